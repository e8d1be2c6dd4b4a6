#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs jobs of PyTorch and DeepSpeed (torch_jobs.py): a small Llama on random tokens.

  torch_runs.py < JOBS
"""

import functools
import importlib
import pathlib
import sys

import torch
import torch.distributed as dist
from torch import nn
from torch.nn import functional

import call_log
import cuda_stubs
import launch
import torch_jobs

LOG = call_log.LOG
DEEPSPEED = pathlib.Path("/src/deepspeed")


class Attention(nn.Module):
    def __init__(self, sizes):
        super().__init__()
        hidden, self.heads, self.kv_heads = (
            sizes[key] for key in ("hidden", "heads", "kv_heads"))
        kv_hidden = hidden // self.heads * self.kv_heads
        self.q_proj, self.k_proj, self.v_proj, self.o_proj = (
            nn.Linear(hidden, size, bias=False)
            for size in (hidden, kv_hidden, kv_hidden, hidden))

    def forward(self, states):
        batch, size, hidden = states.shape
        query, key, value = (
            project(states).view(batch, size, -1, hidden // self.heads).transpose(1, 2)
            for project in (self.q_proj, self.k_proj, self.v_proj))
        key, value = (each.repeat_interleave(self.heads // self.kv_heads, 1)
                      for each in (key, value))
        mixed = functional.scaled_dot_product_attention(query, key, value, is_causal=True)
        return self.o_proj(mixed.transpose(1, 2).reshape(batch, size, hidden))


class FeedForward(nn.Module):
    def __init__(self, sizes):
        super().__init__()
        hidden, inner = sizes["hidden"], sizes["ffn"]
        self.gate_proj, self.up_proj = (nn.Linear(hidden, inner, bias=False) for _ in "gu")
        self.down_proj = nn.Linear(inner, hidden, bias=False)

    def forward(self, states):
        return self.down_proj(functional.silu(self.gate_proj(states)) * self.up_proj(states))


class Layer(nn.Module):
    def __init__(self, sizes):
        super().__init__()
        self.input_layernorm = nn.RMSNorm(sizes["hidden"])
        self.self_attn = Attention(sizes)
        self.post_attention_layernorm = nn.RMSNorm(sizes["hidden"])
        self.mlp = FeedForward(sizes)

    def forward(self, states):
        states = states + self.self_attn(self.input_layernorm(states))
        return states + self.mlp(self.post_attention_layernorm(states))


class Llama(nn.Module):
    def __init__(self, sizes):
        super().__init__()
        self.embed_tokens = nn.Embedding(sizes["vocab"], sizes["hidden"])
        self.layers = nn.ModuleList(Layer(sizes) for _ in range(sizes["layers"]))
        self.norm = nn.RMSNorm(sizes["hidden"])
        self.lm_head = nn.Linear(sizes["hidden"], sizes["vocab"], bias=False)
        if sizes["tied"]:
            self.lm_head.weight = self.embed_tokens.weight

    def forward(self, tokens):
        """Computes the loss; the labels are the tokens."""
        states = self.embed_tokens(tokens)
        for layer in self.layers:
            states = layer(states)
        scores = self.lm_head(self.norm(states)).float()
        return functional.cross_entropy(scores.flatten(0, 1), tokens.flatten())


def train(settings, model, backward, step, is_step_each=False, before=lambda _: None):
    """Trains for three iterations. DeepSpeed takes a step after each micro-batch."""
    sizes = settings.sizes
    for iteration in range(3):
        # ZeRO 3 learns the order of layers in the first two.
        LOG.iteration = iteration - 1
        for batch in range(settings.batches):
            tokens = torch.randint(0, sizes["vocab"], (sizes["micro_batch"],
                                                       sizes["sequence"]))
            before(batch)
            with LOG.within("forward", batch):
                loss = model(tokens)
            with LOG.within("backward", batch):
                backward(loss)
            if is_step_each:
                with LOG.within("optimizer", batch):
                    step()
        if not is_step_each:
            with LOG.within("optimizer"):
                step()
        LOG.phase = "between"


def reduce_bucket(_, bucket):
    """Reduces a bucket in Python; calls of DDP's C++ code cannot be logged."""
    gradients = bucket.buffer()
    dist.all_reduce(gradients, async_op=True)
    future = torch.futures.Future()
    future.set_result(gradients / dist.get_world_size())
    return future


def run_ddp(settings, model):
    if "bf16" in settings.words:
        model = model.to(torch.bfloat16)
    size = {"bucket_cap_mb": 0.2} if "bucket" in settings.words else {}
    model = nn.parallel.DistributedDataParallel(model, **size)
    model.register_comm_hook(None, reduce_bucket)
    optimizer = torch.optim.AdamW(model.parameters())

    def synchronize_last(batch):
        model.require_backward_grad_sync = batch == settings.batches - 1

    def step():
        optimizer.step()
        optimizer.zero_grad()
    train(settings, model, torch.Tensor.backward, step, before=synchronize_last)


def mesh_of(settings):
    device_mesh = importlib.import_module("torch.distributed.device_mesh")
    if "hsdp" in settings.words:
        return device_mesh.init_device_mesh("cpu", (2, settings.world // 2),
                                            mesh_dim_names=("replicate", "shard"))
    return device_mesh.init_device_mesh("cpu", (settings.world,), mesh_dim_names=("shard",))


def run_fsdp1(settings, model):
    fsdp = importlib.import_module("torch.distributed.fsdp")
    wrap = importlib.import_module("torch.distributed.fsdp.wrap")
    words, strategies = settings.words, fsdp.ShardingStrategy
    precision = None
    if "bf16" in words:
        precision = fsdp.MixedPrecision(
            param_dtype=torch.bfloat16,
            reduce_dtype=torch.float32 if "fp32red" in words else torch.bfloat16)
    strategy = strategies.SHARD_GRAD_OP if "gradop" in words else \
        strategies.HYBRID_SHARD if "hsdp" in words else strategies.FULL_SHARD
    model = fsdp.FullyShardedDataParallel(
        model, sharding_strategy=strategy, mixed_precision=precision, use_orig_params=True,
        device_mesh=mesh_of(settings) if "hsdp" in words else None,
        device_id=torch.device("cpu"), auto_wrap_policy=functools.partial(
            wrap.transformer_auto_wrap_policy, transformer_layer_cls={Layer}))
    optimizer = torch.optim.AdamW(model.parameters())

    def step():
        model.clip_grad_norm_(1.0)
        optimizer.step()
        optimizer.zero_grad()
    train(settings, model, torch.Tensor.backward, step)


def run_fsdp2(settings, model):
    fsdp = importlib.import_module("torch.distributed._composable.fsdp")
    checkpoint = importlib.import_module(
        "torch.distributed.algorithms._checkpoint.checkpoint_wrapper")
    options = {"mesh": mesh_of(settings),
               "reshard_after_forward": "noreshard" not in settings.words}
    if "bf16" in settings.words:
        options["mp_policy"] = fsdp.MixedPrecisionPolicy(
            param_dtype=torch.bfloat16, reduce_dtype=torch.float32)
    for index, layer in enumerate(model.layers):
        if "ac" in settings.words:
            model.layers[index] = checkpoint.checkpoint_wrapper(layer)
        fsdp.fully_shard(model.layers[index], **options)
    fsdp.fully_shard(model, **options)
    optimizer = torch.optim.AdamW(model.parameters())

    def step():
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
    # On CPUs, parameters that are gathered again would count as modified.
    with torch.autograd.graph.saved_tensors_hooks(torch.Tensor.detach, lambda saved: saved):
        train(settings, model, torch.Tensor.backward, step)


def run_deepspeed(settings, model):
    deepspeed = importlib.import_module("deepspeed")
    config = torch_jobs.deepspeed_config(settings) | {
        "optimizer": {"type": "AdamW", "params": {"lr": 1e-3, "torch_adam": True}},
        "gradient_clipping": 1.0, "steps_per_print": 10 ** 9}
    if settings.kind != "ds0":
        config["zero_allow_untested_optimizer"] = True
    engine, *_ = deepspeed.initialize(
        model=model, config=config, model_parameters=model.parameters(),
        dist_init_required=False)
    train(settings, engine, engine.backward, engine.step, is_step_each=True)


def run(job, folder):
    """Runs one rank of a job."""
    settings = torch_jobs.settings_of(job["arguments"])
    dist.init_process_group("gloo")
    torch.manual_seed(1)
    programs = {"ddp": run_ddp, "fsdp1": run_fsdp1, "fsdp2": run_fsdp2}
    programs.get(settings.kind, run_deepspeed)(settings, Llama(settings.sizes))
    LOG.save(folder)


def main():
    torch.set_num_threads(1)
    call_log.install()
    cuda_stubs.install_streams_of_cpu()
    if DEEPSPEED.exists():
        sys.path.insert(0, str(DEEPSPEED))
        importlib.import_module("deepspeed")
        # Its transport through shared memory needs a compiler.
        sys.modules["deepspeed.comm.torch"].build_shm_op = cuda_stubs.nothing
    launch.run_all("torch", run)


if __name__ == "__main__":
    main()
