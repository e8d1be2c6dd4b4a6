# SPDX-License-Identifier: Apache-2.0
"""usage: check_traces.py SEED COUNT

Compiles random jobs to traces and compares each with what the instrumentation
logs (traced.py), call by call, and with the IR: every collective of a block is
a call with as many bytes, or one that the dialect hides, or one of which a
warning says that nobody knows, and how many bytes those are."""

import collections
import dataclasses
import pathlib
import re

import closed_form
import tool
from check_closed_form import is_open
from ftir import Program
from job import text_of
from random_jobs import random_job
from traced import SIZES, TORCH, Traced

ROW = re.compile(r"rank:\d+:(\w+)\(stage_id=(\d+),batch_id=\d+"
                 r"(?:,chunk_id=(\d+))?,.*,group_kind=(\w+),"
                 r"input__shape=(None|\[.*?\]),input__dtype=([\w.]+),"
                 r"timestamp=None,sub_operations=\[(.*)\]\)$")
CALL = re.compile(r"'trace_src_func=(\w+),duration=None,timestamp=None,"
                  r"input__shape=(\[.*?\]),input__dtype=torch\.(\w+)"
                  r"(?:,func_name=(\w+))?,group=(\w+),comm_func=(\w+)'")
UNKNOWN = re.compile(r"warning: Transformer Engine issues .* of `(\w+)`, (\d+) "
                     r"bytes .*\[megatron-unknown-calls\]")


def plain_job(rng):
    """One the fork could run but for its mode: experts over tp as all else,
    and the stages of ZeRO that it has. It is not known how it logs the gathers
    of ranks that share a key head, nor a fused loss."""
    job = random_job(rng)
    if job.experts:
        job = dataclasses.replace(
            job, etp=job.tp, experts=dataclasses.replace(
                job.experts, shared=0, gate=False, router_bias=False,
                ffn=job.tp * 48))
    job = dataclasses.replace(job, latent=None, per_token_loss=False,
                              kv_heads=max(job.kv_heads, job.tp),
                              zero=min(job.zero, 1), dp_replicate=1,
                              fused_loss="none")
    is_spread = (job.cp * job.dp) % job.ep == 0
    return job if is_spread and not is_open(job) else plain_job(rng)


def shape_of(text):
    return [n if n == "R" else int(n) for n in text[1:-1].split(", ")]


class Trace:
    """The rows of a rank: (op, stage, chunk, shape, type, calls)."""

    def __init__(self, path):
        self.rows = []
        for line in path.read_text().splitlines():
            op, stage, chunk, _, shape, kind, calls = ROW.match(line).groups()
            self.rows.append((
                op, int(stage), int(chunk or 0),
                None if shape == "None" else shape_of(shape), kind,
                [(f, name, group, comm, shape_of(s), t)
                 for f, s, t, name, group, comm in CALL.findall(calls)]))


def compare(what, expected, got):
    if expected != got:
        yield f"{what}: expected {expected}, got {got}"


def expected_calls(traced, blocks, op):
    if op == "get_batch":
        return traced.batch(blocks)
    if op == "forward_step":
        return [c for b in blocks for c in traced.forward(b)]
    if op == "backward_step":
        return [c for b in reversed(blocks) for c in traced.backward(b)]
    if op == "loss_func":
        return [traced.of("allreduce", "loss_func", "dp", "allreduce", [1],
                          "float32")]
    return []


def blocks_of(job, stage, chunk, op):
    """get_batch is for the ends of the model, which one chunk of a stage has
    each."""
    chunks = range(job.vpp) if op == "get_batch" else [chunk]
    return [b for c in chunks for b in closed_form.chunk(job, stage, c)]


def expected_tensor(job, traced, stage, op):
    """(shape, type) of a row."""
    grad = f"torch.{TORCH[job.grad_precision]}"
    if op.startswith(("send_", "recv_")):
        rows = job.local // job.micro_batch
        return ([rows, job.micro_batch, job.hidden], f"torch.{traced.param}")
    if op == "ep_allreduce":
        return [job.padded_vocab // job.tp, job.hidden], grad
    if not op.endswith("dp_allreduce") or job.zero:
        return None, "None"
    held = [p for p in closed_form.stage_parameters(job, stage) if p.trained]
    counts = [sum(p.elements for p in held if p.expert == e)
              for e in (False, True)]
    if job.ep == 1 or not counts[1]:
        return [sum(counts)], grad
    is_expert = op != "dp_allreduce" or traced.is_v1
    return [counts[is_expert]], grad


def compare_rows(job, traced, trace):
    for op, stage, chunk, shape, kind, calls in trace.rows:
        what = f"{op} of stage {stage}"
        blocks = blocks_of(job, stage, chunk, op)
        expected = expected_calls(traced, blocks, op)
        yield from compare(what, [tuple(c[:6]) for c in expected], calls)
        yield from compare(what, expected_tensor(job, traced, stage, op),
                           (shape, kind))


def is_probabilities(job, axes, size):
    """Of the tokens a rank sends, which the fork keeps."""
    e = job.experts
    copies = job.tokens * e.topk * SIZES[TORCH[e.precision]]
    return set(axes) <= {"etp", "ep"} and size in (copies, copies // job.tp)


def is_single_choice(job, axes, size):
    e = job.experts
    ranks = job.etp * job.ep
    return (e.dispatcher == "allgather" and e.topk == 1 and set(axes) <=
            {"etp", "ep"} and size == job.local * e.count * ranks
            * SIZES[TORCH[e.precision]])


def fate(job, traced, block, message):
    """Of a collective that is no call: unknown, silent, or a reason to fail."""
    _, op, axes, size = message
    if op == "broadcast":
        return "silent"  # of get_batch
    if block not in closed_form.LAYERS:
        is_raw = axes == ("tp",) and op != "all_reduce"
        return "silent" if is_raw else "lost"
    if op == "all_reduce":
        is_count = block == "moe" and job.experts.aux_loss != "none"
        return "silent" if is_count and size % 8 == 0 else "lost"
    if axes == ("cp",) or axes == ("tp",) and job.sp:
        return "unknown"
    is_exchanged = block == "moe" and job.experts.dispatcher != "allgather"
    if is_exchanged and job.ep == 1 and message[1:] == traced.counts():
        return "silent"
    if block == "moe" and (traced.is_v1 and set(axes) <= {"etp", "ep"}
                           or is_probabilities(job, axes, size)
                           or is_single_choice(job, axes, size)):
        return "silent"
    return "lost"


def compare_block(job, traced, block, messages, warned):
    """The block's collectives, with calls and what is said of the others."""
    left = collections.Counter(messages)
    again = job.recompute == "full" and block in closed_form.LAYERS
    calls = [("forward", c) for c in traced.forward(block)]
    calls += [("recompute", c) for c in traced.forward(block) if again]
    calls += [("backward", c) for c in
              traced.backward(block)[len(calls) // 2 if again else 0:]]
    left.subtract((phase,) + c.message for phase, c in calls if c.message)
    unknown = 0
    for message, n in left.items():
        is_hidden = n == 0 or n > 0 and fate(
            job, traced, block, message) != "lost"
        if not is_hidden:
            yield f"{block}: {n} of {message} without a call"
        elif fate(job, traced, block, message) == "unknown":
            unknown += n * message[3]
    yield from compare(f"warned of {block}", unknown, warned)


def compare_blocks(job, traced, program, stderr):
    warned = collections.Counter()
    for block, size in UNKNOWN.findall(stderr):
        warned[block] += int(size)
    for block, messages in program.blocks.items():
        if not block.startswith("step"):
            yield from compare_block(job, traced, block, messages,
                                     warned[block])
    if "megatron-unheard-of" in stderr:
        yield f"warned of what has calls: {stderr}"
    is_refused = job.pp == 1 or job.vpp > 1 or bool(job.experts) and (
        job.cp > 1 and job.ep > 1 or not traced.is_v1 and job.tp > 1
        and job.experts.dispatcher == "alltoall")
    yield from compare("refused", is_refused, "megatron-refused" in stderr)


def check(case):
    job, dialect = plain_job(case.draw), case.draw.choice(("v1", "v2", "v2b"))
    ranks = [stage * job.tp * job.cp * job.dp for stage in range(job.pp)]
    case.write(text_of(job) + f"emit megatron {{ dialect = {dialect}  ranks = "
               f"\"{','.join(map(str, ranks))}\" }}\n")
    traced = Traced(job, dialect)
    program = Program(tool.ir(case.job))
    done = tool.attempt("compile", "--quiet", case.job, "-o", case.stem + "/")
    assert done.returncode == 0, done.stderr
    found = [*compare_blocks(job, traced, program, done.stderr)]
    for rank in ranks:
        found += compare_rows(job, traced, Trace(pathlib.Path(case.stem, f"rank{rank}.txt")))
    assert not found, "\n".join(found[:6])


tool.cases(check)
