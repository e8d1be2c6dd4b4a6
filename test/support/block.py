# SPDX-License-Identifier: Apache-2.0
"""What one rank does in a block of layers: messages, parameters, FLOPs and saved bytes, of which
those of linear layers are here. Sources are files of Megatron-LM (main of 2026-08, paths in
megatron/core)."""

import collections
import contextlib
import dataclasses

TP, CP = ("tp",), ("cp",)
TRANSPOSED = {"all_to_all": "all_to_all", "all_gather": "reduce_scatter",
              "reduce_scatter": "all_gather"}


@dataclasses.dataclass
class Parameter:
    elements: int          # of one rank
    expert: bool = False   # of a routed expert
    tp_sum: bool = False   # its gradient is summed over tp in the step
    trained: bool = True   # has a gradient
    table: bool = False    # is the embedding table
    tied: bool = False     # is a copy of that
    core: bool = False     # read by core attention
    fp32: bool = False     # whatever the precision of the job


class Block:
    """Messages are (op, axes, bytes), in order, those of the forward pass each with a word for
    what recomputation does: `core` ones are of core attention, `once` ones are outside of the
    checkpoint of a layer, and `loss` ones in the second pass alone."""

    def __init__(self, job, tokens=0, is_layer=True):
        self.job, self.is_layer = job, is_layer
        self.recompute = job.recompute if is_layer else "none"
        self.forward, self.backward = [], []
        self.parameters = []
        self.saved = {}     # bytes by name
        self.saved_once = 0  # of these, what is saved beside the input of a checkpoint
        self.flops = collections.Counter()  # of all passes, by the modules of recomputation, or ""
        self.module = ""
        self.of(tokens or job.sequence // job.cp)

    def of(self, tokens):
        """Sets how many tokens of each sample are in what follows."""
        self.tokens = tokens * self.job.micro_batch
        self.local = self.tokens // (self.job.tp if self.job.sp else 1)

    def send(self, *messages, back=(), word=""):
        """Adds messages of the forward pass, and of the backward pass, which goes the other way."""
        self.forward += [(message, word) for message in messages]
        self.backward[:0] = back

    def include(self, other, name, has_parameters=True):
        """Adds all of another block, whose tensors are others; its weights may be those of this one."""
        self.forward += other.forward
        self.backward[:0] = other.backward
        self.parameters += other.parameters * has_parameters
        self.saved[name] = sum(other.saved.values())
        self.saved_once += other.saved_once
        self.flops += other.flops

    @contextlib.contextmanager
    def part(self, module):
        """Counts what is multiplied inside as the work of a module."""
        before, self.module = self.module, module
        yield
        self.module = before

    def multiply(self, times):
        """Counts multiply-adds, of 2 FLOPs each; the backward pass has twice as many as the forward one."""
        self.flops[self.module] += 6 * times

    def save(self, name, elements, width=None):
        """Saves a tensor; one that several ops save is there once."""
        size = elements * (width or self.job.element)
        assert self.saved.setdefault(name, size) == size, name

    def own(self, elements, tp_sum=False, **of):
        if elements:
            self.parameters.append(Parameter(elements, tp_sum=tp_sum, **of))

    def norm(self, name, width, elements=None, kind=None, tp_sum=None):
        """Adds a norm. It saves its input, which may be a part of a tensor; its gradient is of this rank's
        tokens under sequence parallelism (distributed/finalize_model_grads.py)."""
        for _ in range(2 if (kind or self.job.norm) == "layernorm" else 1):
            self.own(width, self.job.sp if tp_sum is None else tp_sum)
        self.save(name, self.local * width if elements is None else elements)

    def column(self, name, inputs, outputs, bias=False, gathers=True, tied=False):
        """tensor_parallel/layers.py, LinearWithGradAccumulationAndAsyncCommunication: the input is
        gathered from all tokens of tp, and again for the gradient of the weight, as only this rank's
        part is saved; its gradient is scattered, or reduced. Layers with one input gather it once."""
        job, whole = self.job, self.tokens * inputs * self.job.element
        self.own(inputs * outputs // job.tp, tied=tied)
        self.own(outputs // job.tp if bias else 0)
        self.save(name, self.local * inputs)
        self.multiply(self.tokens * inputs * outputs // job.tp)
        if job.sp:
            gather = [("all_gather", TP, whole)] * gathers
            self.send(*gather, back=[*gather, ("reduce_scatter", TP, whole)])
        else:
            self.send(back=[("all_reduce", TP, whole)])

    def row(self, name, inputs, outputs, bias=False, reduces=True):
        """tensor_parallel/layers.py, RowParallelLinear: its bias is added after the reduction."""
        whole = self.tokens * outputs * self.job.element
        self.own(inputs * outputs // self.job.tp)
        self.own(outputs if bias else 0, self.job.sp)
        self.save(name, self.tokens * inputs // self.job.tp)
        self.multiply(self.tokens * inputs * outputs // self.job.tp)
        if reduces and self.job.sp:
            self.send(("reduce_scatter", TP, whole), back=[("all_gather", TP, whole)])
        elif reduces:
            self.send(("all_reduce", TP, whole))

    def duplicated(self, name, inputs, outputs, bias=False):
        """A linear layer that every rank of tp has whole, run on this rank's tokens
        (extensions/transformer_engine.py, parallel_mode "duplicated"; moe/router.py;
        moe/shared_experts.py)."""
        self.own(inputs * outputs, self.job.sp)
        self.own(outputs if bias else 0, self.job.sp)
        self.save(name, self.local * inputs)
        self.multiply(self.local * inputs * outputs)

    def network(self, name, width, inputs=0, outputs=0, bias=False, activation=None, **of):
        """transformer/mlp.py; fusions/fused_bias_swiglu.py: the activation saves its input."""
        inner = width * (2 if (activation or self.job.activation) in ("swiglu", "geglu") else 1)
        hidden = self.job.hidden
        self.column(name, inputs or hidden, inner, bias, of.get("gathers", True))
        self.save(f"fc1 {name}", self.tokens * inner // self.job.tp)
        self.row(f"activated {name}", width, outputs or hidden, bias, of.get("reduces", True))

    def core(self, heads, width, value_width, pairs):
        """training/training.py, transformer_flops: scores, and values weighted by them. A rank of cp
        has its part of the pairs, rounded up to a half, or after an exchange of its heads."""
        cp = self.job.cp if self.job.cp_comm != "a2a" else 1
        heads //= self.job.tp * self.job.cp // cp
        self.flops["core_attn"] += (3 * -(-2 * pairs // cp) * self.job.micro_batch * heads
                                    * (width + value_width))

    def exchange(self, query, key, value, context):
        """Transformer Engine, attention/dot_product_attention/context_parallel.py: AttnFuncWithCPAnd-
        KVAllGather gathers keys and values, and again in the backward pass; AttnFuncWithCPAndKVP2P
        passes them around, their gradients one step behind; AttnFuncWithCPAndQKVOA2A exchanges
        heads for tokens. These are elements of all ranks of tp; keys and values count as one."""
        cp, size = self.job.cp, self.tokens // self.job.tp * self.job.element
        if self.job.cp_comm == "all_gather":
            gather = ("all_gather", CP, size * (key + value) * cp)
            there, back = gather, [gather, ("reduce_scatter", *gather[1:])]
        elif self.job.cp_comm == "p2p":
            there = ("ring", CP, size * (key + value) * (cp - 1))
            back = [there, there]
        else:
            there = ("all_to_all", CP, size * (query + key + value + context))
            back = [there]
        self.send(there, back=back, word="core")
