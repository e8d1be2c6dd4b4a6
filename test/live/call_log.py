# SPDX-License-Identifier: Apache-2.0
"""Logs each call of torch.distributed in this process.

gloo lacks bf16, reduce_scatter and all_gather of unequal sizes. Such calls are logged as
they were made and are carried out by other calls. A fake process group sends nothing.
"""

import contextlib
import csv
import functools
import inspect
import pathlib
import sys

import torch
import torch.distributed as dist
from torch.distributed import distributed_c10d as c10d

COLUMNS = ("rank order phase batch collective dtype in_elements out_elements group_size "
           "group_desc group_ranks peer is_async extra module caller").split()
# Folders of frameworks, whose functions are named as callers.
FRAMEWORKS = ("megatron/", "deepspeed/", "torch/distributed/fsdp", "torch/nn/parallel",
              "torch/distributed/tensor", "torch/distributed/_composable")
# The logged iteration. The first one also creates groups and buffers.
ITERATION = 1
# The replaced functions by name.
REAL = {}


class Log:
    """Logged calls, and the phase and module in which the program is."""

    def __init__(self):
        self.rows = []
        self.iteration = -1
        self.phase = "init"
        self.batch = ""
        self.module = ""
        self.is_nested = False

    @contextlib.contextmanager
    def within(self, phase, batch=None):
        before = self.phase, self.batch
        self.phase = phase
        self.batch = self.batch if batch is None else batch
        try:
            yield
        finally:
            self.phase, self.batch = before

    @contextlib.contextmanager
    def nested(self):
        """Logs no calls that torch.distributed itself makes."""
        self.is_nested = True
        try:
            yield
        finally:
            self.is_nested = False

    def add(self, collective, tensors, group, peer="", is_async="", extra=""):
        if self.iteration != ITERATION or group is dist.GroupMember.NON_GROUP_MEMBER:
            return
        sent, received = map(as_list, tensors)
        group = group if group is not None else dist.group.WORLD
        ranks = dist.get_process_group_ranks(group)
        self.rows.append({
            "rank": dist.get_rank(), "order": len(self.rows), "phase": self.phase,
            "batch": self.batch, "collective": collective,
            "dtype": str((sent + received)[0].dtype)[6:] if sent + received else "",
            "in_elements": sum(each.numel() for each in sent),
            "out_elements": sum(each.numel() for each in received),
            "group_size": len(ranks), "group_desc": getattr(group, "group_desc", ""),
            "group_ranks": " ".join(map(str, ranks)), "peer": peer, "is_async": is_async,
            "extra": extra, "module": self.module, "caller": callers()})

    def save(self, folder):
        path = pathlib.Path(folder) / f"rank{dist.get_rank()}.csv"
        with open(path, "w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, COLUMNS)
            writer.writeheader()
            writer.writerows(self.rows)


LOG = Log()


class Done:
    """Handle of a completed call."""

    def wait(self, *_args, **_kwargs):
        return True

    def is_completed(self):
        return True

    def block_current_stream(self):
        pass

    def append(self, _work):
        pass


def as_list(tensors):
    if tensors is None:
        return []
    return list(tensors) if isinstance(tensors, (list, tuple)) else [tensors]


def callers():
    """Names the three innermost functions of frameworks."""
    found, frame = [], sys._getframe(1)  # pylint: disable=protected-access
    while frame and len(found) < 3:
        path = frame.f_code.co_filename
        if any(folder in path for folder in FRAMEWORKS):
            found.append(f"{pathlib.Path(path).stem}.{frame.f_code.co_name}")
        frame = frame.f_back
    return " < ".join(found)


def is_fake():
    return dist.get_backend() == "fake"


def fill(tensor, values):
    """Writes values, repeated or truncated to the size of the tensor."""
    with torch.no_grad():
        flat = values.detach().reshape(-1)
        if tensor.numel() and flat.numel():
            times = -(-tensor.numel() // flat.numel())
            tensor.copy_(flat.repeat(times)[:tensor.numel()].view_as(tensor))


def widened(tensor):
    """Copies a tensor in a type that gloo supports."""
    tensor = tensor.detach()
    return tensor.clone() if tensor.dtype in (torch.float32, torch.float64, torch.int32,
                                              torch.int64, torch.uint8) else tensor.float()


def sum_of(tensor, operation, group):
    value = widened(tensor).contiguous()
    is_mean = operation == dist.ReduceOp.AVG
    is_extreme = operation in (dist.ReduceOp.MAX, dist.ReduceOp.MIN)
    # NCCL's PREMUL_SUM, whose factor is not needed, is a sum, too.
    REAL["all_reduce"](value, operation if is_extreme else dist.ReduceOp.SUM, group)
    return value / dist.get_world_size(group) if is_mean else value


def all_reduce(call):
    if not is_fake():
        with torch.no_grad():
            call["tensor"].copy_(sum_of(call["tensor"], call["op"], call["group"]))


def broadcast(call):
    if is_fake():
        return
    value = widened(call["tensor"])
    REAL["broadcast"](value, call["src"], call["group"], group_src=call["group_src"])
    with torch.no_grad():
        call["tensor"].copy_(value)


def all_gather_base(call):
    parts = [torch.empty_like(call["input_tensor"], memory_format=torch.contiguous_format)
             for _ in range(dist.get_world_size(call["group"]))]
    all_gather({"tensor_list": parts, "tensor": call["input_tensor"], "group": call["group"]})
    fill(call["output_tensor"], torch.cat([part.reshape(-1) for part in parts]))


def all_gather(call):
    parts, mine, group = call["tensor_list"], call["tensor"], call["group"]
    for root, part in enumerate(parts):
        if is_fake():
            fill(part, mine)
            continue
        value = widened(mine if root == dist.get_rank(group) else part).contiguous()
        if len({each.shape for each in parts}) > 1:
            REAL["broadcast"](value, dist.get_process_group_ranks(group)[root], group)
            fill(part, value)
    if not is_fake() and len({each.shape for each in parts}) == 1:
        values = [torch.empty_like(widened(mine).contiguous()) for _ in parts]
        REAL["all_gather"](values, widened(mine).contiguous(), group)
        for part, value in zip(parts, values):
            fill(part, value)


def reduce_scatter_base(call):
    summed = call["input"] if is_fake() else sum_of(call["input"], call["op"], call["group"])
    size = call["output"].numel()
    first = 0 if is_fake() else size * dist.get_rank(call["group"])
    fill(call["output"], summed.reshape(-1)[first:first + size])


def reduce_scatter(call):
    for root, part in enumerate(call["input_list"]):
        summed = part if is_fake() else sum_of(part, call["op"], call["group"])
        if root == dist.get_rank(call["group"]):
            fill(call["output"], summed)


def all_to_all(call):
    if is_fake():
        fill(call["output"], call["input"])
        return
    value = widened(call["output"])
    REAL["all_to_all_single"](value, widened(call["input"]).contiguous(),
                              call["output_split_sizes"], call["input_split_sizes"],
                              call["group"])
    fill(call["output"], value)


def isend(call):
    """Sends a copy: on a GPU, the stream protects a tensor that is freed before it is sent."""
    call["tensor"] = call["tensor"].detach().clone()
    return REAL["isend"](**call)


def gather_objects(call):
    if is_fake():
        call["object_list"][:] = [call["obj"]] * len(call["object_list"])
    else:
        REAL["all_gather_object"](call["object_list"], call["obj"], call["group"])


# By function: names of the arguments with the sent tensor, the received one, and the other
# rank; and how the call is carried out (None: by gloo, and not at all in a fake group).
CALLS = {
    "all_reduce": ("tensor", "tensor", "", all_reduce),
    "reduce": ("tensor", "tensor", "dst", all_reduce),
    "broadcast": ("tensor", "tensor", "src", broadcast),
    "all_gather": ("tensor", "tensor_list", "", all_gather),
    "all_gather_into_tensor": ("input_tensor", "output_tensor", "", all_gather_base),
    "_all_gather_base": ("input_tensor", "output_tensor", "", all_gather_base),
    "reduce_scatter": ("input_list", "output", "", reduce_scatter),
    "reduce_scatter_tensor": ("input", "output", "", reduce_scatter_base),
    "_reduce_scatter_base": ("input", "output", "", reduce_scatter_base),
    "all_to_all_single": ("input", "output", "", all_to_all),
    "send": ("tensor", "", "dst", None), "isend": ("tensor", "", "dst", isend),
    "recv": ("", "tensor", "src", None), "irecv": ("", "tensor", "src", None),
    "gather": ("tensor", "gather_list", "dst", None),
    "scatter": ("tensor", "scatter_list", "src", None),
    "barrier": ("", "", "", None),
    "all_gather_object": ("", "", "", gather_objects),
    "broadcast_object_list": ("", "", "", None), "gather_object": ("", "", "", None),
    "scatter_object_list": ("", "", "", None)}
PUBLIC = {"_all_gather_base": "all_gather_into_tensor",
          "_reduce_scatter_base": "reduce_scatter_tensor"}
SENDS_IN_FAKE_GROUPS = {"send", "isend", "recv", "irecv"}


def extra_of(call):
    if "op" in call:
        return str(call["op"]).rsplit(".", maxsplit=1)[-1]
    if "input_split_sizes" in call:
        splits = (call[f"{end}_split_sizes"] for end in ("input", "output"))
        sent, received = (list(each) if each is not None else "even" for each in splits)
        return f"in={sent} out={received}"
    return ""


def wrapped(name):
    real = REAL[name]
    sent, received, peer, perform = CALLS[name]
    signature = inspect.signature(real)

    @functools.wraps(real)
    def call_and_log(*args, **kwargs):
        if LOG.is_nested:
            return real(*args, **kwargs)
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        call = bound.arguments
        other = call.get(peer, "")
        if peer and other is None:
            other = f"g{call.get('group_' + peer)}"
        is_async = call.get("async_op", "")
        LOG.add(PUBLIC.get(name, name), (call.get(sent), call.get(received)),
                call.get("group"), other, is_async, extra_of(call))
        with LOG.nested():
            if perform:
                return perform(call) or (Done() if is_async else None)
            if is_fake() and name not in SENDS_IN_FAKE_GROUPS:
                return None
            return real(*args, **kwargs)
    return call_and_log


def batch_isend_irecv(operations):
    for each in operations:
        is_send = "send" in each.op.__name__
        tensors = (each.tensor, None) if is_send else (None, each.tensor)
        LOG.add("batch_" + ("isend" if is_send else "irecv"), tensors, each.group, each.peer,
                extra=f"of {len(operations)}")
        if is_send:
            each.tensor = each.tensor.detach().clone()
    with LOG.nested():
        return REAL["batch_isend_irecv"](operations)


@contextlib.contextmanager
def coalescing_manager(_group=None, _device=None, async_ops=False, **_):
    """Marks calls that NCCL would combine."""
    first = len(LOG.rows)
    yield Done()
    for row in LOG.rows[first:]:
        row["extra"] = f"{row['extra']} coalesced {len(LOG.rows) - first}".strip()
        row["is_async"] = async_ops


def install():
    """Replaces functions; must run before a framework imports torch.distributed."""
    REAL.update({name: getattr(c10d, name) for name in (*CALLS, "batch_isend_irecv")})
    replaced = {name: wrapped(name) for name in CALLS}
    replaced["batch_isend_irecv"] = batch_isend_irecv
    replaced["_coalescing_manager"] = coalescing_manager
    for name, function in replaced.items():
        for module in (c10d, dist):
            setattr(module, name, function)
