#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs jobs of one release of Megatron-LM by its unchanged pretrain_gpt.py.

  megatron_runs.py SOURCES < JOBS

JOBS is a table of generate.py; jobs of other releases are skipped. The folder SOURCES is
named after the release. Only functions that need a GPU, a compiler or Transformer Engine
are replaced; none of them communicates.
"""

import contextlib
import functools
import importlib
import inspect
import os
import pathlib
import shlex
import sys

import torch

import call_log
import count_memory
import cuda_stubs
import launch

LOG = call_log.LOG
MEMORY = count_memory.MEMORY
# Modules that the log names.
NAMED = {"TransformerLayer", "SelfAttention", "MLASelfAttention", "MLP", "MoELayer",
         "TopKRouter", "ColumnParallelLinear", "RowParallelLinear", "VocabParallelEmbedding",
         "SequentialMLP", "SharedExpertMLP", "DotProductAttention", "LanguageModelEmbedding",
         "MultiTokenPredictionLayer", "MambaLayer"}


def replace(module, names, value):
    """Replaces those of the names that the module has."""
    for name in names:
        if hasattr(module, name):
            setattr(module, name, value)


def wrap(module, name, wrapper):
    setattr(module, name, functools.partial(wrapper, getattr(module, name)))


def replace_kernels():
    """Replaces random states of GPUs, fused functions, and conversions to fp8."""
    importlib.import_module("megatron.core.jit").jit_fuser = lambda function: function
    random = importlib.import_module("megatron.core.tensor_parallel.random")
    replace(random, ["_get_cuda_rng_state"], lambda *_args, **_kwargs: torch.get_rng_state())
    replace(random, ["_set_cuda_rng_state"],
            lambda state, *_args, **_kwargs: torch.set_rng_state(state))
    initialize = importlib.import_module("megatron.training.initialize")
    training = importlib.import_module("megatron.training.training")
    replace(initialize, ["_compile_dependencies", "_warmup_jit_function",
                         "set_jit_fusion_options"], cuda_stubs.nothing)
    replace(training, ["set_jit_fusion_options", "save_checkpoint",
                       "save_checkpoint_and_time"], cuda_stubs.nothing)
    for name in ("megatron.core.fp8_utils", "megatron.core.optimizer.distrib_optimizer"):
        try:
            replace(importlib.import_module(name),
                    ["quantize_param_shard", "quantize_param_fragment"], cuda_stubs.nothing)
        except ImportError:
            pass


class NoFp8:
    @staticmethod
    def is_fp8_enabled():
        return False


def no_context(**_):
    return contextlib.nullcontext()


def share_storage(discarded, recomputed):
    """Copies what an extension in C++ would share."""
    storage = discarded.untyped_storage()
    storage.resize_(recomputed.untyped_storage().nbytes())
    storage.copy_(recomputed.untyped_storage())


def lack_transformer_engine():
    """Defines names that are used even without Transformer Engine or a compiler."""
    for module, name, value in (
            ("transformer.moe.moe_utils", "te_general_gemm", None),
            ("transformer.multi_latent_attention", "TELinear", cuda_stubs.Kernel),
            ("distributed.fsdp.mcore_fsdp_adapter", "TELinear", cuda_stubs.Kernel),
            ("tensor_parallel.random", "FP8GlobalStateManager", NoFp8),
            ("tensor_parallel.random", "activation_recompute_forward", no_context),
            ("tensor_parallel.random", "fp8_autocast", no_context)):
        try:
            module = importlib.import_module("megatron.core." + module)
        except ImportError:
            continue
        if not isinstance(getattr(module, name, None), type):
            setattr(module, name, value)
    random = importlib.import_module("megatron.core.tensor_parallel.random")
    replace(random, ["_get_share_storage"], lambda: share_storage)


def latent_attention(query, key, value):
    """Computes attention whose values have another head size than its queries."""
    scores = torch.einsum("sbhd,tbhd->bhst", query.float(), key.float())
    mixed = torch.einsum("bhst,tbhd->sbhd", torch.softmax(scores, -1), value.float())
    return mixed.to(value.dtype).reshape(*query.shape[:2], -1).contiguous()


def complete_local_layers():
    """Adds what local layers reject: context parallelism, whose exchange is not logged,
    heads of MLA, and sequence parallelism of norms."""
    attention = importlib.import_module(
        "megatron.core.transformer.dot_product_attention").DotProductAttention
    make, attend = attention.__init__, attention.forward

    def make_attention(self, config, *args, **kwargs):
        self.is_latent = kwargs.pop("k_channels", None) is not None
        kwargs.pop("v_channels", None)
        cp, config.context_parallel_size = config.context_parallel_size, 1
        try:
            make(self, config, *args, **kwargs)
        finally:
            config.context_parallel_size = cp

    def attend_locally(self, query, key, value, attention_mask, *args, **kwargs):
        if self.is_latent:
            return latent_attention(query, key, value)
        if attention_mask is not None:
            attention_mask = attention_mask[..., :query.shape[0], :key.shape[0]]
        return attend(self, query, key, value, attention_mask, *args, **kwargs)
    attention.__init__, attention.forward = make_attention, attend_locally

    norm = importlib.import_module("megatron.core.transformer.torch_norm").WrappedTorchNorm
    make_norm = norm.__new__

    def make_parallel_norm(cls, config, *args, **kwargs):
        is_parallel, config.sequence_parallel = config.sequence_parallel, False
        try:
            made = make_norm(cls, config, *args, **kwargs)
        finally:
            config.sequence_parallel = is_parallel
        for parameter in made.parameters():
            parameter.sequence_parallel = is_parallel
        return made
    norm.__new__ = make_parallel_norm


def route_evenly():
    """Routes equal shares of the tokens to all experts, as the plan assumes."""
    router = importlib.import_module("megatron.core.transformer.moe.router").Router
    gate = router.gating

    def gate_evenly(self, *args, **kwargs):
        logits = gate(self, *args, **kwargs)
        count = logits.shape[-1]
        tokens = torch.arange(logits.numel() // count)
        chosen = (tokens[:, None] * self.topk + torch.arange(self.topk)) % count
        return logits + 10 * torch.nn.functional.one_hot(chosen, count).sum(1).view_as(logits)
    router.gating = gate_evenly


def log_modules():
    """Logs the module in whose forward pass a call is made."""
    names = []

    def enter(module, _):
        name = type(module).__name__
        if name in NAMED:
            layer = f":{module.layer_number}" if hasattr(module, "layer_number") else ""
            names.append(name + layer)
            LOG.module = "/".join(names)

    def leave(module, *_):
        if type(module).__name__ in NAMED and names:
            names.pop()
            LOG.module = "/".join(names)
    torch.nn.modules.module.register_module_forward_pre_hook(enter)
    torch.nn.modules.module.register_module_forward_hook(leave)


def log_phases():
    """Logs the phase of the iteration in which a call is made."""
    schedules = importlib.import_module("megatron.core.pipeline_parallel.schedules")
    training = importlib.import_module("megatron.training.training")
    counts = {}

    def log_step(name, step, *args, **kwargs):
        counts[name] = counts.get(name, -1) + 1
        with LOG.within(name.split("_", maxsplit=1)[0], counts[name]):
            if name == "forward_step":
                return MEMORY.forward(args[2], functools.partial(step, *args, **kwargs))
            return step(*args, **kwargs)
    for name in ("forward_step", "backward_step"):
        wrap(schedules, name, functools.partial(log_step, name))

    def log_update(update, *args, **kwargs):
        LOG.phase = "optimizer"
        try:
            return update(*args, **kwargs)
        finally:
            LOG.phase = "after"

    def log_iteration(train_step, *args, **kwargs):
        LOG.iteration, LOG.phase = LOG.iteration + 1, "schedule"
        counts.clear()
        for each in args:
            if hasattr(each, "zero_grad") and hasattr(each, "step") \
                    and not isinstance(each.step, functools.partial):
                wrap(each, "step", log_update)
        try:
            result = train_step(*args, **kwargs)
            MEMORY.count(*args[2:4])
            return result
        finally:
            LOG.phase = "between"
    wrap(training, "train_step", log_iteration)

    def log_finalize(finalize, *args, **kwargs):
        with LOG.within("finalize"):
            return finalize(*args, **kwargs)
    finalize = importlib.import_module("megatron.core.distributed.finalize_model_grads")
    logged = functools.partial(log_finalize, finalize.finalize_model_grads)
    for module in (finalize, training, importlib.import_module("megatron.core.distributed")):
        replace(module, ["finalize_model_grads"], logged)


class Tokens(torch.utils.data.IterableDataset):
    """Random tokens, equal on all ranks."""

    def __iter__(self):
        args = importlib.import_module("megatron.training").get_args()
        size, batch = args.seq_length, args.micro_batch_size
        generator = torch.Generator().manual_seed(1)
        while True:
            mask = torch.tril(torch.ones(batch, 1, size, size)) < 0.5
            tokens = torch.randint(0, args.padded_vocab_size - 1, (batch, size + 1),
                                   generator=generator)
            # A part of a batch of one would share the memory of the whole.
            yield {"tokens": tokens[:, :-1].clone(), "labels": tokens[:, 1:].clone(),
                   "loss_mask": torch.ones(batch, size), "attention_mask": mask,
                   "position_ids": torch.arange(size).repeat(batch, 1)}


def provide_data(_samples, vp_stage=None):  # pylint: disable=unused-argument
    return (iter(Tokens()),) * 3


provide_data.is_distributed = False


def pretrain():
    """Runs the main program of pretrain_gpt.py, with random data."""
    program = importlib.import_module("pretrain_gpt")
    kind = importlib.import_module("megatron.core.enums").ModelType.encoder_or_decoder
    provider = getattr(program, "model_provider", None)
    try:
        builder = importlib.import_module("gpt_builders").gpt_builder
        provider = functools.partial(provider, builder)
    except ImportError:
        pass
    if "args_defaults" in inspect.signature(program.pretrain).parameters:
        program.pretrain(provide_data, provider, kind, program.forward_step,
                         args_defaults={"tokenizer_type": "NullTokenizer"})
        return
    program.parse_and_validate_args(args_defaults={"tokenizer_type": "NullTokenizer"})
    args = importlib.import_module("megatron.training").get_args()
    configure = program.pretrain_cfg_container_from_args
    if "model_cfg" in inspect.signature(configure).parameters \
            and hasattr(program, "gpt_config_from_args"):
        program.pretrain(configure(args, program.gpt_config_from_args(args)), provide_data,
                         kind, program.forward_step)
    else:
        program.pretrain(configure(args), provide_data, provider, kind, program.forward_step)


def trust_gathered_shapes():
    """Skips a check of the shapes of other ranks, which a fake process group lacks."""
    buffers = "megatron.core.distributed.fsdp.src.megatron_fsdp.param_and_grad_buffer"
    replace(importlib.import_module(buffers), ["validate_uneven_dtensor"], cuda_stubs.nothing)


def train(job, folder):
    """Runs one rank of a job."""
    arguments = shlex.split(job["arguments"])
    if job["ranks"] != "all":
        arguments += ["--fake-process-group", "--no-check-for-nan-in-loss-and-grad"]
    sys.argv = ["pretrain_gpt.py", *arguments]
    torch.cuda.device_count = lambda: int(job["world"])
    os.environ["CUDA_DEVICE_MAX_CONNECTIONS"] = "1"
    MEMORY.is_on = "fsdp" not in job["arguments"]
    if not MEMORY.is_on:
        torch.cuda.current_device = lambda: 0
        del os.environ["CUDA_DEVICE_MAX_CONNECTIONS"]
        if job["ranks"] != "all":
            trust_gathered_shapes()
    try:
        pretrain()
    finally:
        if torch.distributed.is_initialized():
            LOG.save(folder)
            MEMORY.save(folder)


def main():
    sources = pathlib.Path(sys.argv[1])
    sys.path.insert(0, str(sources))
    torch.set_num_threads(1)
    cuda_stubs.install(8)
    call_log.install()
    replace_kernels()
    lack_transformer_engine()
    route_evenly()
    log_modules()
    log_phases()
    complete_local_layers()
    importlib.import_module("pretrain_gpt")
    launch.run_all(sources.name, train)


if __name__ == "__main__":
    main()
