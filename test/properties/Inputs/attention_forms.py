# SPDX-License-Identifier: Apache-2.0
"""Closed forms of layers: messages, parameters, FLOPs and saved activations of a rank.

Each function names its source in Megatron-LM (main of 2026-08, paths in megatron/core). Where
Megatron-LM has no such layer, its linear layers decide: values narrower than keys, values
that are keys, gates of heads or of latent attention, norms after a sublayer, and attention beside
a network, whose results are added before they are reduced (GPT-NeoX, ParallelTransformerLayer).
Norms of all heads together are those of Megatron-Bridge (minimax_m2_provider.py, _FullDimRMSNorm).
"""
import collections

GATED = ("swiglu", "geglu")


class Block:
    """What one rank does in a layer: messages as lists of bytes by phase, op and axis; parameters,
    and those whose gradients are partial sums over tp; FLOPs; saved tensors by name."""

    def __init__(self, job):
        self.job = job
        self.tokens = job.sequence // job.cp * job.batch
        self.local = self.tokens // job.tp if job.sp else self.tokens
        self.messages = collections.defaultdict(list)
        self.parameters = self.summed = self.flops = 0
        self.saved = {}

    def send(self, phase, op, axis, size):
        if getattr(self.job, axis) > 1:
            self.messages[phase, op, axis].append(size)

    def save(self, name, elements):
        """A tensor that several ops save is there once."""
        assert self.saved.setdefault(name, elements) == elements, name

    def own(self, elements, is_summed=False):
        self.parameters += elements
        self.summed += elements if is_summed and self.job.tp > 1 else 0

    def norm(self, name, width, elements=None):
        """Of this rank's tokens (extensions/transformer_engine.py, TENorm): with sequence
        parallelism its gradient is a partial sum (distributed/finalize_model_grads.py)."""
        self.own(width * (2 if self.job.norm == "layernorm" else 1), self.job.sp)
        self.save(name, elements or self.local * width)

    def column(self, name, inputs, outputs, bias=False, gathers=True):
        """tensor_parallel/layers.py, LinearWithGradAccumulationAndAsyncCommunication: the input is
        gathered from all tokens of tp, and again for the gradient of the weight, as only this rank's
        part is saved; its gradient is scattered, or reduced. Layers with one input gather it once."""
        whole = 2 * self.tokens * inputs
        self.own(inputs * outputs // self.job.tp + (outputs // self.job.tp if bias else 0))
        self.save(name, self.local * inputs)
        self.flops += 6 * self.tokens * inputs * outputs // self.job.tp
        if self.job.sp:
            if gathers:
                self.send("forward", "all_gather", "tp", whole)
                self.send("backward", "all_gather", "tp", whole)
            self.send("backward", "reduce_scatter", "tp", whole)
        else:
            self.send("backward", "all_reduce", "tp", whole)

    def row(self, name, inputs, outputs, bias=False, reduces=True):
        """tensor_parallel/layers.py, RowParallelLinear: its bias is added after the reduction."""
        whole = 2 * self.tokens * outputs
        self.own(inputs * outputs // self.job.tp)
        self.own(outputs if bias else 0, self.job.sp)
        self.save(name, self.tokens * inputs // self.job.tp)
        self.flops += 6 * self.tokens * inputs * outputs // self.job.tp
        if reduces and self.job.sp:
            self.send("forward", "reduce_scatter", "tp", whole)
            self.send("backward", "all_gather", "tp", whole)
        elif reduces:
            self.send("forward", "all_reduce", "tp", whole)

    def duplicated(self, name, inputs, outputs):
        """extensions/transformer_engine.py, TELinear with parallel_mode = "duplicated": whole on
        each rank, and run on its tokens."""
        self.own(inputs * outputs, self.job.sp)
        self.save(name, self.local * inputs)
        self.flops += 6 * self.local * inputs * outputs

    def core(self, heads, width, value_width, pairs):
        """training/training.py, transformer_flops: scores, and values weighted by them. A rank of cp
        has its part of the pairs, rounded up to a half, or after an exchange of its heads."""
        cp = self.job.cp if self.job.cp_comm != "a2a" else 1
        heads //= self.job.tp * self.job.cp // cp
        self.flops += 3 * -(-2 * pairs // cp) * self.job.batch * heads * (width + value_width)

    def exchange(self, query, key, value, context):
        """Transformer Engine, attention/dot_product_attention/context_parallel.py: AttnFuncWithCPAnd-
        KVAllGather gathers keys and values, and again in the backward pass; AttnFuncWithCPAndKVP2P
        passes them around, their gradients one step behind; AttnFuncWithCPAndQKVOA2A exchanges
        heads for tokens. These are elements of all ranks of tp."""
        cp, comm = self.job.cp, self.job.cp_comm
        size = 2 * self.tokens // self.job.tp
        if comm == "all_gather":
            for phase, op in (("forward", "all_gather"), ("backward", "all_gather"),
                              ("backward", "reduce_scatter")):
                self.send(phase, op, "cp", size * (key + value) * cp)
        elif comm == "p2p":
            for phase in ("forward", "backward", "backward"):
                self.send(phase, "ring", "cp", size * (key + value) * (cp - 1))
        else:
            for phase in ("forward", "backward"):
                self.send(phase, "all_to_all", "cp", size * (query + key + value + context))


def causal_pairs(sequence, window=0, chunk=0):
    """Megatron-Bridge, training/utils/flop_utils.py, calculate_swa_context; of chunks a half."""
    if window and window < sequence:
        return window * sequence - window * (window - 1) // 2
    if chunk and chunk < sequence:
        rest = sequence % chunk
        return ((sequence - rest) * chunk + rest * rest) // 2
    return sequence * sequence // 2


def self_attention(b, name, a, bias=False, output_bias=False, reduces=True):
    """transformer/attention.py, SelfAttention: queries, gates, keys and values are one projection.
    With fewer key heads than ranks all of it is gathered, and its gradient scattered
    (get_query_key_value_tensors, mappings.py, _AllGatherFromTensorParallelRegion). Norms of heads
    have partial gradients on each rank (finalize_model_grads.py, q_layernorm). A gate is
    copied (_apply_output_gate, contiguous), and the product saves both factors; those of heads are
    rows of the same projection (Megatron-Bridge, param_mapping.py, QKVGMapping). Sinks are a
    number for each head (dot_product_attention.py, softmax_offset)."""
    job, share = b.job, b.tokens // b.job.tp
    query, out = a.heads * a.width, a.heads * a.value
    columns = query + a.groups * (a.width + (0 if a.shared else a.value))
    gates = {"channel": out, "head": a.heads, "none": 0}[a.gate]
    columns += gates
    b.column(name, job.hidden, columns, bias)
    if a.groups < job.tp:
        b.send("forward", "all_gather", "tp", 2 * b.tokens * columns)
        b.send("backward", "reduce_scatter", "tp", 2 * b.tokens * columns)
    own = max(a.groups, job.tp)
    if a.qk_norm == "head":
        b.own(2 * a.width * (2 if job.norm == "layernorm" else 1), True)
        b.save("queries", share * query)
        b.save("keys", share * a.groups * a.width)
    elif a.qk_norm in ("all", "channel"):
        b.own((query + a.groups * a.width) // job.tp)
    if a.qk_norm == "all":
        b.send("forward", "all_reduce", "tp", 4 * b.tokens)
        b.send("forward", "all_reduce", "tp", 4 * b.tokens)
    b.save("projected", share * columns)  # values are a part of it
    b.exchange(query, own * a.width, own * a.value, out)
    full = job.sequence ** 2 if not a.causal else causal_pairs(job.sequence, a.window, a.chunk)
    b.core(a.heads, a.width, a.value, full)
    b.own(a.heads // job.tp if a.sinks else 0)
    b.save("context", share * out)
    if gates:
        b.save("gate", share * gates)
    b.row("gated" if a.gate != "none" else "context", out, job.hidden, output_bias, reduces)


def latent_attention(b, name, m):
    """transformer/multi_latent_attention.py, MLASelfAttention: latents and their norms are of this
    rank's tokens, the rotary key is gathered by itself; keys of all heads and values are copies."""
    job, share, head = b.job, b.tokens // b.job.tp, m.nope + m.rope
    if m.q_lora:
        b.duplicated(name, job.hidden, m.q_lora)
        b.norm("query latent", m.q_lora)
        b.column("normed query latent", m.q_lora, m.heads * head)
    else:
        b.column(name, job.hidden, m.heads * head)
    b.duplicated(name, job.hidden, m.kv_lora + m.rope)
    b.norm("latent", m.kv_lora, b.local * (m.kv_lora + m.rope))
    b.column("normed latent", m.kv_lora, m.heads * (m.nope + m.v))
    if job.sp:
        b.send("forward", "all_gather", "tp", 2 * b.tokens * m.rope)
        b.send("backward", "reduce_scatter", "tp", 2 * b.tokens * m.rope)
    for tensor, width in (("query", head), ("key", head), ("value", m.v), ("context", m.v)):
        b.save(tensor, share * m.heads * width)
    b.exchange(m.heads * head, m.heads * head, m.heads * m.v, m.heads * m.v)
    b.core(m.heads, head, m.v, causal_pairs(job.sequence))
    if m.gate:
        b.column(name, job.hidden, m.heads * m.v, gathers=m.q_lora > 0)
        b.save("gate", share * m.heads * m.v)
    b.row("gated" if m.gate else "context", m.heads * m.v, job.hidden)


def sparse_attention(b, name, m, has_indexer):
    """transformer/experimental_attention_variant/absorbed_mla.py, AbsorbedMLASelfAttention: one key
    head of latents, whose up-projection weighs queries and results (einsum saves them); latents and
    rotary key are gathered by themselves, and saved whole (ops/sparse_mla.py, SparseMLA). dsa.py,
    DSAIndexer: weights are whole, x and the query's latent are gathered without a gradient;
    DSAttention: keys are gathered over cp; compute_dsa_indexer_loss: a number for each pair of tokens
    is reduced over tp. Gradients of the indexer are averaged over tp, but equal."""
    job, share = b.job, b.tokens // b.job.tp
    b.duplicated(name, job.hidden, m.q_lora)
    b.norm("query latent", m.q_lora)
    b.column("normed query latent", m.q_lora, m.heads * (m.nope + m.rope))
    b.duplicated(name, job.hidden, m.kv_lora + m.rope)
    b.norm("latent", m.kv_lora, b.local * (m.kv_lora + m.rope))
    for tensor, width in (("query", m.nope + m.rope), ("absorbed", m.kv_lora + m.rope), ("sum", m.kv_lora)):
        b.save(tensor, share * m.heads * width)
    b.save("keys", b.tokens * (m.kv_lora + m.rope))
    key = 2 * b.tokens * (m.kv_lora + m.rope)
    if job.sp:
        b.send("forward", "all_gather", "tp", key)
        b.send("backward", "reduce_scatter", "tp", key)
    b.send("forward", "all_gather", "cp", key * job.cp)
    b.send("backward", "reduce_scatter", "cp", key * job.cp)
    b.own(m.kv_lora * m.heads * (m.nope + m.v) // job.tp)
    b.flops += 6 * b.tokens * m.kv_lora * m.heads * (m.nope + m.v) // job.tp
    # Megatron-Bridge, flop_utils.py, num_floating_point_operations, dsa.
    b.core(m.heads, m.kv_lora + m.rope, m.kv_lora, causal_pairs(job.sequence, m.topk))
    b.row("context", m.heads * m.v, job.hidden)
    if not has_indexer:
        return
    b.own(m.q_lora * m.index_heads * m.index_dim + job.hidden * (m.index_dim + m.index_heads)
          + 2 * m.index_dim)
    if job.sp:
        b.send("forward", "all_gather", "tp", 2 * b.tokens * job.hidden)
        b.send("forward", "all_gather", "tp", 2 * b.tokens * m.q_lora)
    index_key = 2 * b.tokens * m.index_dim * job.cp
    b.send("forward", "all_gather", "cp", index_key)
    b.send("backward", "reduce_scatter", "cp", index_key)
    # Foretrace reduces in the backward pass.
    b.send("backward", "all_reduce", "tp", 4 * b.tokens * job.sequence)


def network(b, name, f, bias=False, gathers=True, reduces=True):
    """transformer/mlp.py; fusions/fused_bias_swiglu.py: the activation saves its input."""
    inner = f.width * (2 if f.activation in GATED else 1)
    b.column(name, b.job.hidden, inner, bias, gathers)
    b.save("fc1", b.tokens * inner // b.job.tp)
    b.row("activated", f.width, b.job.hidden, bias, reduces)


def sublayer(b, number, body):
    """transformer/transformer_layer.py: a norm saves its input, a sum nothing. Norms after the
    projection see this rank's tokens (Megatron-Bridge, TERowParallelLinearLayerNorm)."""
    placement, hidden = b.job.placement, b.job.hidden
    if placement in ("pre", "sandwich"):
        b.norm(f"x{number}", hidden)
        body(f"normed{number}")
    else:
        body(f"x{number}")
    if placement != "pre":
        b.norm(f"{'sum' if placement == 'after_sum' else 'out'}{number}", hidden)
    b.save(f"mask{number}", b.local * hidden / 2 if b.job.dropout else 0)  # a byte, not two


def depth(b):
    """transformer/multi_token_prediction.py, MultiTokenPredictionLayer: norms of the embedding and of
    the hidden state, eh_proj of both, whose columns are gathered and whose tokens are then split
    (_concat_embeddings), and a norm after the layer, which is added by the caller."""
    hidden, whole = b.job.hidden, 2 * b.tokens * b.job.hidden
    b.send("forward", "reduce_scatter" if b.job.sp else "all_reduce", "tp", whole)
    b.norm("embedding", hidden)
    b.norm("hidden", hidden)
    b.column("both", 2 * hidden, hidden)
    b.send("forward", "all_gather", "tp", whole)
    if b.job.sp:
        b.send("backward", "all_gather", "tp", whole)  # of the embedding
        b.send("backward", "all_gather", "tp", whole)  # of the split
    b.norm("result", hidden)


def joined(lists):
    """Keys and values may be exchanged over cp together or one by one."""
    return {k: [sum(v)] if k[2] == "cp" else sorted(v) for k, v in lists.items() if v}
