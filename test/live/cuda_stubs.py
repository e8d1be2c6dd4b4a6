# SPDX-License-Identifier: Apache-2.0
"""Runs training programs for CUDA on a CPU, which is enough to see what they send.

Tensors "on a GPU" are in main memory, streams and events do nothing, and Triton is an
empty module.
"""

import collections
import contextlib
import importlib
import importlib.abc
import importlib.machinery
import sys
import types

import torch
from torch.overrides import TorchFunctionMode

CPU = torch.device("cpu")


def is_cuda(device):
    return isinstance(device, int) and not isinstance(device, bool) or \
        isinstance(device, (str, torch.device)) and str(device).startswith("cuda")


class OnCpu(TorchFunctionMode):
    """Replaces GPUs by the CPU in arguments of torch's functions."""

    def __torch_function__(self, func, _, args=(), kwargs=None):
        kwargs = dict(kwargs or {})
        if kwargs.get("pin_memory"):
            kwargs["pin_memory"] = False
        if is_cuda(kwargs.get("device")):
            kwargs["device"] = CPU
        if func is torch.Tensor.to:
            args = [args[0]] + [CPU if is_cuda(each) else each for each in args[1:]]
        return func(*args, **kwargs)


class Stream:
    """A stream or an event whose work is always complete."""

    cuda_stream = 0
    device = CPU

    def __init__(self, *_args, **_kwargs):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *_):
        return False

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return Event if name == "record_event" else lambda *_args, **_kwargs: None


class Event(Stream):
    def elapsed_time(self, _end):
        return 0.0

    def query(self):
        return True


class Kernel:
    """Any name of Triton: a decorator, a kernel, a type. No kernel is launched."""

    def __init__(self, *_args, **_kwargs):
        pass

    def __call__(self, *_args, **_kwargs):
        return self

    def __getitem__(self, _grid):
        return self

    def __mro_entries__(self, _bases):
        return ()


class NoModule(types.ModuleType):
    __version__ = "3.2.0"
    __path__ = []

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return Kernel()


class NoKernels(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds Triton and all of its modules."""

    def find_spec(self, fullname, _path, _target=None):
        if fullname.split(".")[0] != "triton":
            return None
        return importlib.machinery.ModuleSpec(fullname, self, is_package=True)

    def create_module(self, spec):
        return NoModule(spec.name)

    def exec_module(self, module):
        pass


class NoNccl:
    class Options:
        def __init__(self, *_args, **_kwargs):
            pass


def nothing(*_args, **_kwargs):
    return None


def type_of_gpu(original):
    """Makes Tensor.type return names of CUDA types."""
    def type_of(self, *dtype, **kwargs):
        dtype = [each.replace("torch.cuda.", "torch.") if isinstance(each, str) else each
                 for each in dtype]
        found = original(self, *dtype, **kwargs)
        if isinstance(found, str):
            found = found.replace("torch.cuda.", "torch.").replace("torch.", "torch.cuda.")
        return found
    return type_of


def replace_device(gpus):
    stream = Stream()
    generator = torch.default_generator
    replaced = {
        "is_available": lambda: True, "is_initialized": lambda: True,
        "device_count": lambda: gpus, "current_device": lambda: CPU,
        "_lazy_call": lambda call, **_: call(), "Stream": Stream, "Event": Event,
        "current_stream": lambda *_: stream, "default_stream": lambda *_: stream,
        "stream": lambda _: contextlib.nullcontext(),
        "is_current_stream_capturing": lambda *_: False,
        "memory_stats": lambda *_args, **_kwargs: collections.defaultdict(int),
        "get_device_capability": lambda *_: (8, 0), "get_device_name": lambda *_: "cpu",
        "get_device_properties": lambda *_: types.SimpleNamespace(
            major=8, minor=0, name="cpu", multi_processor_count=1, total_memory=1 << 34),
        "get_rng_state": lambda *_args, **_kwargs: torch.get_rng_state(),
        "set_rng_state": lambda state, *_args, **_kwargs: torch.set_rng_state(state),
        "manual_seed": lambda seed: generator.manual_seed(int(seed)),
        "manual_seed_all": lambda seed: generator.manual_seed(int(seed)),
        "initial_seed": generator.initial_seed, "default_generators": (generator,) * gpus}
    for name in ("_lazy_init", "set_device", "synchronize", "empty_cache", "set_stream",
                 "reset_peak_memory_stats", "ipc_collect"):
        replaced[name] = nothing
    for name in ("memory_allocated", "memory_reserved", "max_memory_allocated", "utilization",
                 "max_memory_reserved", "temperature", "power_draw", "clock_rate"):
        replaced[name] = lambda *_args, **_kwargs: 0
    for name in ("Float", "Half", "BFloat16", "Double", "Long", "Int", "Byte", "Bool"):
        replaced[name + "Tensor"] = getattr(torch, name + "Tensor")
    for name, value in replaced.items():
        setattr(torch.cuda, name, value)
    for name in ("get_rng_state", "set_rng_state"):
        setattr(torch.cuda.random, name, replaced[name])
    torch.cuda.nvtx.range_push = torch.cuda.nvtx.range_pop = nothing


def install(gpus):
    """Replaces the functions of torch that need CUDA."""
    # Must be imported without Triton, and before functions of torch are replaced.
    importlib.import_module("torch._dynamo")
    replace_device(gpus)
    for kind in (torch.Tensor, torch.nn.Module):
        kind.cuda = lambda self, *_args, **_kwargs: self
    torch.Tensor.pin_memory = lambda self, *_args, **_kwargs: self
    torch.Tensor.record_stream = nothing
    torch.Tensor.type = type_of_gpu(torch.Tensor.type)
    torch.Tensor.is_cuda = property(lambda _: True)
    # The environment has no compiler.
    torch.compile = lambda model=None, **_: model if model is not None else lambda each: each
    if not hasattr(torch.distributed, "ProcessGroupNCCL"):
        torch.distributed.ProcessGroupNCCL = NoNccl
    sys.meta_path.insert(0, NoKernels())
    OnCpu().__enter__()  # pylint: disable=unnecessary-dunder-call


def install_streams_of_cpu():
    """Replaces streams of the CPU, with which FSDP overlaps its calls."""
    stream = Stream()
    torch.cpu.Stream, torch.cpu.Event, torch.Event = Stream, Event, Event
    torch.cpu.current_stream = lambda *_: stream
    torch.cpu.stream = lambda _: contextlib.nullcontext()
