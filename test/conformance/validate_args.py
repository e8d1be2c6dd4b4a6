#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# Exports random jobs of library models with `export megatron` and feeds them to
# Megatron-LM's own parse_args and validate_args and to its configurations of the
# transformer and the optimizer, with stubs for what they import. A job that they
# reject must have a warning about the same rule.
"""usage: validate_args.py CHECKOUT [--jobs=N] [--seed=N] [--foretrace=PROGRAM]

CHECKOUT is a clone of Megatron-LM, core 0.16 or later. Prints each rejection and
whether a warning announces it; exits with 1 if none does, or if a flag is unknown."""
import argparse
import collections
import contextlib
import dataclasses
import importlib
import importlib.abc
import importlib.machinery
import io
import os
import pathlib
import random
import re
import shlex
import sys
import types
import typing

# In place of this folder, whose `megatron` would hide the framework's.
sys.path[0] = str(pathlib.Path(__file__).parents[1] / "support")
import random_jobs  # noqa: E402
import tool  # noqa: E402

ANNOUNCED = "Megatron-LM rejects this in"
# A part of each rejection, the slug of its warning and what the warning says first.
RULES = (
    ("--overlap-param-gather only supported with",
     "megatron-refuses", "overlap_param_gather needs `zero"),
    ("--overlap-param-gather with --overlap-grad-reduce",
     "megatron-refuses", "overlap_param_gather needs `overlap_grad_reduce"),
    ("does not support overlap grad reduce",
     "megatron-refuses", "overlap_grad_reduce needs another optimizer"),
    ("only when sequence parallelism is enabled", "megatron-refuses", "tp_comm_overlap"),
    ("in conjunction with `--use-precision-aware", "offload-optimizer", "offload_optimizer"),
    ("in conjunction with `--fp8-recipe delayed", "megatron-refuses", "offload_optimizer"),
    ("cross entropy loss fusion is disabled", "megatron-too-new", "fused_loss = te"),
    ("full recompute is only supported with", "megatron-refuses", "cuda_graphs needs `recompute"),
    ("CUDA graphs not supported with CPU offloading",
     "megatron-refuses", "cuda_graphs needs `offload"),
    ("moe recompute is not supported with", "megatron-refuses", "cuda_graphs needs no `moe`"),
    ("attention dropout is not supported with graphed",
     "megatron-refuses", "cuda_graphs needs `dropout"),
)
LAST_RELEASE = 19  # that `megatron` knows
TOO_OLD = 16       # exports begin with it
STUBS = ("torch", "numpy", "transformer_engine", "triton",
         "megatron.core.ssm.ops")


class StubType(type(typing.Protocol)):
    """A class whose attributes, items and instances are such classes, so that
    sources can inherit from them, call them and use them as decorators."""

    def __getattr__(cls, name):
        if name.startswith("__"):
            raise AttributeError(name)
        made = StubType(name, (), {})
        setattr(cls, name, made)
        return made

    def __call__(cls, *args, **kwargs):
        if type(cls) is StubType and cls.__mro__[1:] == (object,):
            is_decorator = len(args) == 1 and not kwargs and callable(args[0])
            return args[0] if is_decorator else StubType("made", (), {})
        return super().__call__(*args, **kwargs)

    def __getitem__(cls, _):
        return cls

    def __or__(cls, _):
        return cls

    def __enter__(cls):
        return cls

    def __exit__(cls, *_):
        return False

    def __iter__(cls):
        return iter(())

    __ror__ = __or__


class StubModule(types.ModuleType):
    __path__ = ()
    __version__ = "9.9.0"

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        made = StubType(name, (), {})
        setattr(self, name, made)
        return made


class StubFinder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def find_spec(self, name, _path, _target=None):
        if any(name == stub or name.startswith(stub + ".") for stub in STUBS):
            return importlib.machinery.ModuleSpec(name, self, is_package=True)
        return None

    def create_module(self, spec):
        return StubModule(spec.name)

    def exec_module(self, module):
        pass


def adam(master_weight_dtype=None, exp_avg_dtype=None, exp_avg_sq_dtype=None,
         use_decoupled_grad=None, store_param_remainders=None):
    """Has the arguments of Transformer Engine's that the framework looks up."""


def load_arguments(checkout):
    """The module of the checkout, on a machine with one Hopper GPU."""
    sys.meta_path.insert(0, StubFinder())
    sys.path.insert(0, checkout)
    try:
        import packaging.version  # noqa: F401, pylint: disable=unused-import
    except ModuleNotFoundError:
        from pip._vendor import packaging
        import pip._vendor.packaging.version
        sys.modules["packaging"] = packaging
        sys.modules["packaging.version"] = pip._vendor.packaging.version
    if not hasattr(typing, "override"):  # before Python 3.12
        typing.override = lambda function: function
    import torch.cuda
    import torch.distributed
    import transformer_engine.pytorch.optimizers as optimizers
    torch.dtype = type("dtype", (), {})  # no protocol, which all values would have
    optimizers.FusedAdam = adam
    torch.cuda.get_device_capability = lambda *_: (9, 0)
    torch.cuda.get_device_properties = lambda *_: types.SimpleNamespace(major=9)
    torch.is_grad_enabled = lambda: True
    torch.distributed.is_initialized = lambda: False
    return importlib.import_module("megatron.training.arguments")


def release_of(checkout):
    text = (pathlib.Path(checkout) / "megatron/core/package_info.py").read_text()
    minor = int(re.search(r"^MINOR = (\d+)", text, re.M).group(1))
    if minor < TOO_OLD:
        sys.exit(f"{checkout} is core 0.{minor}; exports are for 0.{TOO_OLD} and later")
    return f"0.{min(minor, LAST_RELEASE)}"


def random_text(rng, known, release):
    """A job of a library model; about a half of them compile."""
    mesh = random_jobs.random_mesh(rng, rng.random() < .5, False)
    compute = rng.choice(("", "", "fp8", "fp8_block", "mxfp8"))
    train = {"sequence": 1024 * rng.choice((1, 2, 4)), "micro_batch": 1,
             "recompute": rng.choice(("none", "none", "selective", "full"))}
    if train["recompute"] == "selective" and rng.random() < .4:
        modules = rng.choice(("core_attn", "layernorm", "mlp", "moe", "moe_act"))
        train["recompute_modules"] = f'"{modules}"'
    if compute:
        train["compute_precision"] = compute
        train |= {"weight_precision": compute} if rng.random() < .3 else {}
    offloads = rng.random() < .15
    if rng.random() < (.8 if offloads else .2):
        train["optimizer"] = "precision_aware" if offloads else rng.choice(
            ("precision_aware", "muon", "sgd"))
    train |= {"offload_optimizer": True} if offloads else {}
    if rng.random() < .1:
        train["fused_loss"] = rng.choice(("native", "te"))
    if rng.random() < .1:
        train |= {"offload_activations": True, "offload_num_layers": 1}
    parallel = {"world": mesh["tp"] * mesh["cp"] * mesh["dp"] * mesh["pp"],
                "zero": rng.choice((0, 1, 1, 1, 2, 3)), "megatron": f'"{release}"',
                **{key: mesh[key] for key in ("tp", "cp", "pp", "vpp", "ga")}}
    if mesh["ep"] > 1:
        parallel |= {"ep": mesh["ep"], "etp": mesh["etp"]}
    if mesh["cp"] > 1:
        parallel["cp_comm"] = rng.choice(("all_gather", "p2p", "a2a"))
    if parallel["zero"] > 1 and mesh["pp"] > 1:
        parallel["zero_pipeline"] = True
    for section, flags in (
            (train, {"per_token_loss": .2, "fused_wgrad": .3, "attention_mask": .2,
                     "cuda_graphs": .15, "dropout": .3}),
            (parallel, {"sequence_parallel": .7 if mesh["tp"] > 1 else 0,
                        "overlap_grad_reduce": .6, "overlap_param_gather": .3,
                        "tp_comm_overlap": .2, "embedding_as_layer": .1, "loss_as_layer": .1,
                        "overlap_moe_expert_parallel_comm": .05})):
        section |= {key: True for key, share in flags.items() if rng.random() < share}
    return (f'import "models/{rng.choice(known)}.fore"\n{tool.section("train", **train)}\n'
            f'{tool.section("parallel", **parallel)}\n')


def make_configurations(module, args):
    """What the training script makes of its arguments before it builds the model."""
    if not hasattr(module, "core_transformer_config_from_args"):
        module = importlib.import_module("megatron.training.argument_utils")
    from megatron.core.optimizer.optimizer_config import OptimizerConfig
    module.core_transformer_config_from_args(args)
    OptimizerConfig(**{field.name: getattr(args, field.name)
                       for field in dataclasses.fields(OptimizerConfig)
                       if hasattr(args, field.name)})


def is_announced(reason, messages):
    """Whether a warning about the rule of a rejection is among the messages."""
    return any(part in reason and f"warning: {text}" in line and line.endswith(f"[{slug}]")
               for part, slug, text in RULES for line in messages.splitlines())


def reason_of(module, command):
    """Why the framework rejects a command, or None."""
    words = shlex.split(command.replace("\\\n", " "), comments=True)
    first = words.index("torchrun")
    counts = dict(zip(words[first + 1:first + 5:2], words[first + 2:first + 5:2]))
    world = int(counts["--nproc-per-node"]) * int(counts["--nnodes"])
    os.environ.pop("CUDA_DEVICE_MAX_CONNECTIONS", None)
    os.environ.update(word.split("=", 1) for word in words[:first])
    os.environ["WORLD_SIZE"] = str(world)
    sys.argv = words[first + 5:]
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
        try:
            args = module.parse_args()
            module.validate_args(args)
            make_configurations(module, args)
        except SystemExit:
            return printed.getvalue().strip().splitlines()[-1]
        except (AssertionError, ValueError, RuntimeError, NotImplementedError) as error:
            frame = error.__traceback__
            while frame.tb_next:
                frame = frame.tb_next
            return f"{error or 'assertion'} (line {frame.tb_lineno})"
    return None


def main():
    module, release = load_arguments(OPTIONS.checkout), release_of(OPTIONS.checkout)
    rng = random.Random(OPTIONS.seed)
    known = [row["model"] for row in tool.rows("list", "models")]
    counts = collections.Counter()
    with tool.scratch() as folder:
        job = folder / "job.fore"
        while counts["exported"] < OPTIONS.jobs:
            text = random_text(rng, known, release)
            job.write_text(text, encoding="utf-8")
            done = tool.attempt("export", "megatron", str(job))
            if done.returncode:
                counts["refused"] += 1
                continue
            counts["exported"] += 1
            reason = reason_of(module, done.stdout)
            if reason is None:
                counts["idle"] += ANNOUNCED in done.stderr
                continue
            is_known = is_announced(reason, done.stderr)
            counts["announced" if is_known else "unannounced"] += 1
            print(f"{'announced' if is_known else 'UNANNOUNCED'}: {reason}")
            if not is_known:
                print(text)
    rejected = counts["announced"] + counts["unannounced"]
    print(f"core {release}: {OPTIONS.jobs} jobs exported, {counts['refused']} refused "
          f"by foretrace; {rejected} rejected by Megatron-LM, "
          f"{counts['unannounced']} of them unannounced; "
          f"{counts['idle']} announced but not rejected")
    return 1 if counts["unannounced"] else 0


if __name__ == "__main__":
    PARSER = argparse.ArgumentParser(usage=__doc__.removeprefix("usage: "))
    PARSER.add_argument("checkout")
    PARSER.add_argument("--jobs", type=int, default=200)
    PARSER.add_argument("--seed", type=int, default=1)
    PARSER.add_argument("--foretrace", default="foretrace")
    OPTIONS = PARSER.parse_args()
    tool.PROGRAM = OPTIONS.foretrace
    sys.exit(main())
