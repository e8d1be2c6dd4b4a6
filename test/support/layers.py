# SPDX-License-Identifier: Apache-2.0
"""The layers of a model as Megatron-LM's source has them.

Nothing here follows from Foretrace's passes; sources are files of Megatron-LM (main of 2026-08,
paths in megatron/core) and
  [K] Korthikanti et al., Reducing Activation Recomputation, arXiv 2205.05198.
Where Megatron-LM has no such layer, its linear layers decide: values narrower than keys, values that
are keys, gates of heads or of latent attention, and norms after a sublayer. Norms of all heads
together are those of Megatron-Bridge (minimax_m2_provider.py, _FullDimRMSNorm).
"""

from block import CP, TP, TRANSPOSED
from job import BYTES, DeltaNet, Grouped, Kimi, Mamba


def causal_pairs(sequence, window=0, chunk=0):
    """Megatron-Bridge, training/utils/flop_utils.py, calculate_swa_context; of chunks a half."""
    if window and window < sequence:
        return window * sequence - window * (window - 1) // 2
    if chunk and chunk < sequence:
        rest = sequence % chunk
        return ((sequence - rest) * chunk + rest * rest) // 2
    return sequence * sequence // 2


def save_scores(b):
    """Saves the softmax if there is no fused kernel, with dropout its mask and its result too ([K],
    section 4.1: 5 a s/h), unless core attention is recomputed."""
    job = b.job
    if job.attention_backend == "unfused" and job.recompute == "none":
        b.save("scores", job.micro_batch * job.heads // job.tp * job.sequence ** 2,
               2 * job.element + 1 if job.dropout else job.element)


def grouped_attention(b, name, reduces=True):
    """transformer/attention.py, SelfAttention: queries, gates, keys and values are one projection.
    With fewer key heads than ranks all of it is gathered, each rank copies its own, and the gradient
    is scattered (get_query_key_value_tensors, mappings.py, _AllGatherFromTensorParallelRegion). Norms
    of heads have partial gradients on each rank (finalize_model_grads.py, q_layernorm). A gate is
    copied (_apply_output_gate, contiguous), and the product saves both factors; those of heads are
    rows of the same projection (Megatron-Bridge, param_mapping.py, QKVGMapping). Sinks are a
    number for each head (dot_product_attention.py, softmax_offset)."""
    job, share = b.job, b.tokens // b.job.tp
    g = job.grouped or Grouped(bias=job.qkv_bias, output_bias=job.bias)
    norm = g.norm if job.qk_norm else None
    query, key = job.heads * job.head_dim, job.rank_kv_heads * job.head_dim
    value, out = (n * (g.value or job.head_dim) for n in (job.rank_kv_heads, job.heads))
    gates = {"channel": out, "head": job.heads, "none": 0}[g.gate]
    columns = query + gates + job.kv_heads * (
        job.head_dim + (0 if g.shared else g.value or job.head_dim))
    b.column(name, job.hidden, columns, g.bias)
    is_whole = job.rank_kv_heads == job.kv_heads
    if not is_whole:
        whole = b.tokens * columns * job.element
        b.send(("all_gather", TP, whole), back=[("reduce_scatter", TP, whole)])
    if norm == "head":
        for tensor, width in (("queries", query), ("keys", key)):
            b.norm(tensor, job.head_dim, 0, None if g.kind == "gqa" else "rmsnorm", tp_sum=True)
    elif norm in ("all", "channel"):
        b.own(query // job.tp)
        b.own(job.kv_heads * job.head_dim // job.tp)
    if norm == "all":
        b.send(*[("all_reduce", TP, 4 * b.tokens)] * 2)
    # Where heads share keys and values, an unfused kernel has a copy of these for each head, and of
    # queries head by head (dot_product_attention.py, repeat_interleave, reshape).
    copies = (job.attention_backend == "unfused" and job.recompute == "none"
              and job.rank_kv_heads < job.heads)
    normed = (query + key) * (norm == "head")
    b.save("read by the kernel", share * (3 * query if copies else normed))
    # Parts of the projection's output save all of it.
    parts = (query + key) * bool(normed or not copies) + value * (not copies)
    b.save("projected", share * (columns if parts and is_whole else parts))
    b.exchange(query, key, value, out)
    b.core(job.heads, job.head_dim, g.value or job.head_dim, job.sequence ** 2 if not g.causal
           else causal_pairs(job.sequence, g.window, g.chunk))
    save_scores(b)
    b.own(job.heads // job.tp if g.sinks else 0, core=True)
    b.save("context", share * out)
    if gates:
        b.save("gate", share * gates)
    b.row("gated" if gates else "context", out, job.hidden, g.output_bias, reduces)


def latents(b, name, m):
    """transformer/multi_latent_attention.py, MLASelfAttention: latents and their norms are of this
    rank's tokens; the query is that of all heads."""
    query = b.job.heads * (m.nope + m.rope)
    if m.q_lora:
        b.duplicated(name, b.job.hidden, m.q_lora)
        b.norm("query latent", m.q_lora)
    with b.part("mla_up_proj"):
        if m.q_lora:
            b.column("normed query latent", m.q_lora, query)
        else:
            b.column(name, b.job.hidden, query)
    b.duplicated(name, b.job.hidden, m.kv_lora + m.rope)
    b.norm("latent", m.kv_lora, b.local * (m.kv_lora + m.rope))


def latent_attention(b, name):
    """The same: the rotary key is gathered by itself; keys of all heads and values are copies."""
    job, m, share = b.job, b.job.latent, b.tokens // b.job.tp
    heads, head, rotary = job.heads, m.nope + m.rope, b.tokens * m.rope * job.element
    latents(b, name, m)
    with b.part("mla_up_proj"):
        b.column("normed latent", m.kv_lora, heads * (m.nope + m.v))
    if job.sp:
        b.send(("all_gather", TP, rotary), back=[("reduce_scatter", TP, rotary)])
    for tensor, width in (("query", head), ("key", head), ("value", m.v), ("context", m.v)):
        b.save(tensor, share * heads * width)
    b.exchange(heads * head, heads * head, heads * m.v, heads * m.v)
    b.core(heads, head, m.v, causal_pairs(job.sequence))
    save_scores(b)
    if m.gate:
        b.column(name, job.hidden, heads * m.v, gathers=m.q_lora > 0)
        b.save("gate", share * heads * m.v)
    b.row("gated" if m.gate else "context", heads * m.v, job.hidden, job.bias)


def over_cp(b, width):
    """ssm/mamba_context_parallel.py: tokens of all heads for all tokens of some heads, or back."""
    sent = [("all_to_all", CP, b.tokens * width // b.job.tp * b.job.element)]
    b.send(*sent, back=sent)


def delta_net(b, name):
    """ssm/gated_delta_net/common.py, _GDNBase: six components in one projection, exchanged over cp
    with all others of a rank's heads; what comes out is exchanged back. Convolution, decay and norm
    of a head have weights of this rank's heads, but for the norm, which is whole.
    flash-linear-attention's ops/gated_delta_rule/chunk.py saves queries and keys of each value head
    and their norms, values, decay and strength in fp32, and products of chunks of 64 tokens; its
    fused norm saves the result of the rule and the gate."""
    job, d, share = b.job, b.job.mixer, b.tokens // b.job.tp
    k, v = d.key_heads * d.key_dim, d.value_heads * d.value_dim
    columns = 2 * k + 2 * v + 2 * d.value_heads
    b.column(name, job.hidden, columns)
    over_cp(b, columns)
    b.save("of the rule", share * (columns + 2 * k + v + 2 * d.value_heads * d.key_dim + v
                                   + 64 * d.value_heads + 2 * v))
    b.save("decay and strength", share * d.value_heads, 16)
    b.own((2 * k + v) * d.kernel // job.tp)
    b.own(d.value_heads // job.tp)
    b.own(d.value_heads // job.tp)
    b.own(d.value_dim, job.tp > 1)
    over_cp(b, v)
    b.row("mixed", v, job.hidden)


def mamba(b, name):
    """ssm/mamba_mixer.py, MambaMixer: z, x, B, C and dt are one projection; weights of the
    convolution (with a bias), of heads (A_log and D in fp32) and of the norm, whose groups are those
    of B and C, are of this rank's heads. mamba_ssm's mamba_split_conv1d_scan_combined saves the
    projection's output and its result before the gate, the norm outside of it what it reads. There is
    no bias, whatever the model has (hybrid_layer_specs.py, hybrid_stack_spec)."""
    job, m, share = b.job, b.job.mixer, b.tokens // b.job.tp
    inner, mixing = m.heads * m.head_dim, 2 * m.groups * m.state
    columns = 2 * inner + mixing + m.heads
    b.column(name, job.hidden, columns)
    over_cp(b, columns)
    b.save("of the scan", share * (columns + inner * (2 if m.gated_norm else 1)))
    b.own((inner + mixing) * m.kernel // job.tp)
    b.own((inner + mixing) // job.tp)
    for fp32 in (True, True, False):
        b.own(m.heads // job.tp, fp32=fp32)
    b.own(inner // job.tp if m.gated_norm else 0)
    over_cp(b, inner)
    b.row("mixed", inner, job.hidden)


def kimi(b, name):
    """Megatron-Bridge, models/kimi/kimi_k3_layers.py, KimiK3Attention: projections whose input
    gradients are reduced one by one; convolutions, A_log and dt_bias in fp32; the gradient of the
    norm is summed over tp. The gate with a bottleneck is that of Kimi-Linear."""
    job, m = b.job, b.job.mixer
    inner = m.heads * m.head_dim

    def bottleneck(tensor):
        b.duplicated(name, job.hidden, m.head_dim)
        b.column(tensor, m.head_dim, inner)

    for _ in range(3):
        b.column(name, job.hidden, inner)
    bottleneck("decay")
    b.column(name, job.hidden, m.heads)
    if m.full_gate:
        b.column(name, job.hidden, inner)
    else:
        bottleneck("gate")
    for elements in (inner * m.kernel, inner * m.kernel, inner * m.kernel, m.heads, inner):
        b.own(elements // job.tp, fp32=True)
    b.own(m.head_dim, job.tp > 1)
    b.row("mixed", inner, job.hidden)


def all_to_all(b):
    """moe/token_dispatcher.py, MoEAlltoAllTokenDispatcher: the tokens of each expert are gathered
    (preprocess), copies of this rank's tokens and their probabilities go to the experts, whole within
    an expert's tensor-parallel group, and what comes out goes back, in the type of the router
    (combine_preprocess)."""
    job, e, axes = b.job, b.job.experts, ("etp", "ep")
    slots = b.local * e.topk * e.count // e.ways
    sent, weights = slots * (e.latent or job.hidden) * job.element, slots * BYTES[e.precision]
    return [("all_gather", axes, 8 * e.count * job.size(axes)),
            ("all_to_all", ("ep",), sent), ("all_to_all", ("ep",), weights),
            ("all_gather", ("etp",), sent * job.etp),
            ("all_gather", ("etp",), weights * job.etp),
            ("reduce_scatter", ("etp",), sent * job.etp // job.element * BYTES[e.precision]),
            ("all_to_all", ("ep",), sent)]


def all_gather(b):
    """moe/token_dispatcher.py, MoEAllGatherTokenDispatcher: all tokens, and for each expert a byte
    that says whether it was chosen and its probability, go to all ranks of all experts; results are
    in the type of the router (token_combine)."""
    job, e, axes = b.job, b.job.experts, ("etp", "ep")
    tokens = b.local * job.size(axes)
    hidden = tokens * (e.latent or job.hidden)
    return [("all_gather", axes, tokens * e.ways),
            ("all_gather", axes, tokens * e.ways * BYTES[e.precision]),
            ("all_gather", axes, hidden * job.element),
            ("reduce_scatter", axes, hidden * BYTES[e.precision])]


def routed_experts(b):
    """moe/experts.py: no communication of its own; the activation is multiplied by the probabilities;
    biases for each local expert. Routing is balanced. Counts and the map of choices, the first that
    are gathered, have no gradients. Only SwiGLU is one kernel with the product (bias_act_func); else
    the product saves what it multiplies, and that of a gate (glu) both factors, of which the linear
    one is a tensor of its own (glu_linear_offset)."""
    job, e = b.job, b.job.experts
    forward = (all_gather if e.dispatcher == "allgather" else all_to_all)(b)
    b.send(*forward, back=[(TRANSPOSED[op], *rest) for op, *rest in reversed(forward[1:])])
    slots = b.local * e.topk * e.count // e.ways * job.etp
    inner, local, width = e.ffn * job.fc1_parts, e.count // job.ep, e.latent or job.hidden
    sizes = [width * inner // job.etp, e.ffn // job.etp * width]
    for elements in sizes + [inner // job.etp, width] * job.bias:
        b.own(local * elements, expert=True)
    b.multiply(slots * sum(sizes))
    steps = {"swiglu": 0, "geglu": 3}.get(job.activation, 1)
    b.save("slots", slots * (width + (inner + (1 + steps) * e.ffn) // job.etp))
    b.save("probabilities", slots, BYTES[e.precision])


AUX_LOSSES = {  # axes of the sum, counts of an expert in a micro-batch
    "none": ((), lambda job: 0),
    "aux_loss": (("tp", "cp"), lambda job: 1),
    "seq_aux_loss": (("tp", "cp"), lambda job: job.micro_batch),
    "global_aux_loss": (("tp", "cp", "dp", "dp_replicate"), lambda job: 1),
}


def router(b, name):
    """moe/router.py. The bias that balances load is no parameter with a gradient, the router's own
    one (of add_bias_linear) is. An auxiliary loss sums counts of tokens, 8 bytes each, in the pass
    that has gradients."""
    job, e = b.job, b.job.experts
    axes, counts = AUX_LOSSES[e.aux_loss]
    with b.part("router"):
        b.duplicated(name, job.hidden, e.ways, job.bias if e.linear_bias is None else e.linear_bias)
    b.send(("all_reduce", axes, 8 * e.ways * counts(job)), word="loss")
    b.save("routed", b.local * e.ways, BYTES[e.precision])
    b.own(e.ways if e.router_bias else 0, trained=False)


def mixture(b, name):
    """moe/moe_layer.py; router and shared experts read the norm's output. The product with the gate of
    shared experts saves both factors: the scattered output and the gate. fc1_latent_proj and
    fc2_latent_proj run on this rank's tokens; the first reads the norm's output, too."""
    job, e = b.job, b.job.experts
    if e.shared:
        with b.part("shared_experts"):
            b.network(name, e.shared, bias=job.bias)
    if e.shared and e.gate:
        with b.part("gate"):
            b.duplicated(name, job.hidden, 1)
        b.save("gated shared", b.local * (job.hidden + 1))
    router(b, name)
    if e.latent:
        b.duplicated(name, job.hidden, e.latent, job.bias)
    routed_experts(b)
    if e.latent:
        b.duplicated("latent results", e.latent, job.hidden, job.bias)


def attention(b, name):
    mixer = {DeltaNet: delta_net, Mamba: mamba, Kimi: kimi}.get(type(b.job.mixer))
    (mixer or (latent_attention if b.job.latent else grouped_attention))(b, name)


def sublayer(b, number, body):
    """transformer/transformer_layer.py: a norm saves its input, a sum nothing, and dropout its mask, a
    byte an element ([K], section 4.1). Norms after the projection see this rank's tokens
    (Megatron-Bridge, TERowParallelLinearLayerNorm)."""
    placement, hidden = b.job.placement, b.job.hidden
    if placement in ("pre", "sandwich"):
        b.norm(f"x{number}", hidden)
        body(b, f"normed{number}")
    else:
        body(b, f"x{number}")
    if placement != "pre":
        b.norm(f"{'sum' if placement == 'after_sum' else 'out'}{number}", hidden)
    b.save(f"mask{number}", b.local * hidden if b.job.dropout else 0, 1)


def layer(b, kind):
    """A layer with a network, `dense`, or with experts, `moe`."""
    sublayer(b, 0, attention)
    with b.part("moe" if kind == "moe" else "mlp"):
        sublayer(b, 1, mixture if kind == "moe" else
                 lambda b, x: b.network(x, b.job.ffn, bias=b.job.bias))
