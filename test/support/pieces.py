# SPDX-License-Identifier: Apache-2.0
"""The parts of a model as Megatron-LM's source has them: each with the messages
of its forward and backward pass, its parameters, and the bytes that it keeps of
a micro-batch for the backward pass.

Nothing here follows from Foretrace's passes; sources are files of Megatron-LM
(main of 2026-08, megatron/core) and
  [K] Korthikanti et al., Reducing Activation Recomputation, arXiv 2205.05198.
"""

import dataclasses

from job import BYTES, Mamba


@dataclasses.dataclass
class Parameter:
    elements: int          # of one rank
    expert: bool = False   # of a routed expert
    tp_sum: bool = False   # its gradient is summed over tp in the step
    trained: bool = True   # has a gradient
    tied: bool = False     # is the embedding table
    core: bool = False     # read by core attention
    fp32: bool = False     # whatever the precision of the job


@dataclasses.dataclass
class Piece:
    forward: list = dataclasses.field(default_factory=list)
    # Outside of the checkpoint of a layer, and what the checkpoint keeps of it.
    once: list = dataclasses.field(default_factory=list)
    kept_once: int = 0
    # For an auxiliary loss: with full recomputation in the second pass alone.
    loss: list = dataclasses.field(default_factory=list)
    backward: list = dataclasses.field(default_factory=list)
    parameters: list = dataclasses.field(default_factory=list)
    kept: int = 0
    # Core attention: its messages are there again in selective recomputation,
    # the scores it keeps are not.
    core: list = dataclasses.field(default_factory=list)
    scores: int = 0


def sharers(parameter):
    """Axes of the ranks that hold the same parameter."""
    return ("edp",) if parameter.expert else ("cp", "dp")


def norm(job, width, tokens=None, tp_sum=None, kept_width=None):
    """A norm keeps its input, whole if it is a part of a tensor. Its gradient
    is of this rank's tokens under sequence parallelism
    (distributed/finalize_model_grads.py)."""
    tp_sum = job.sp if tp_sum is None else tp_sum
    tokens = job.local if tokens is None else tokens
    count = 2 if job.norm == "layernorm" else 1
    return Piece(
        parameters=[Parameter(width, tp_sum=tp_sum) for _ in range(count)],
        kept=tokens * (kept_width or width) * job.element)


def column(job, width, outputs, bias=False, keeps_input=True, tied=False):
    """tensor_parallel/layers.py, ColumnParallelLinear: under sequence
    parallelism the input is gathered, and again for the weight's gradient
    because only this rank's part is saved; its gradient is scattered."""
    whole = job.tokens * width * job.element
    parameters = [Parameter(width * outputs // job.tp, tied=tied)]
    if bias:
        parameters.append(Parameter(outputs // job.tp))
    piece = Piece(parameters=parameters)
    if keeps_input:
        piece.kept = job.local * width * job.element
    if job.sp:
        piece.forward = [("all_gather", ("tp",), whole)]
        piece.backward = [("all_gather", ("tp",), whole),
                          ("reduce_scatter", ("tp",), whole)]
    else:
        piece.backward = [("all_reduce", ("tp",), whole)]
    return piece


def row(job, inputs, width, bias=False):
    """tensor_parallel/layers.py, RowParallelLinear; its bias is added to this
    rank's tokens."""
    whole = job.tokens * width * job.element
    parameters = [Parameter(inputs * width // job.tp)]
    if bias:
        parameters.append(Parameter(width, tp_sum=job.sp))
    piece = Piece(parameters=parameters,
                  kept=job.tokens * inputs // job.tp * job.element)
    if job.sp:
        piece.forward = [("reduce_scatter", ("tp",), whole)]
        piece.backward = [("all_gather", ("tp",), whole)]
    else:
        piece.forward = [("all_reduce", ("tp",), whole)]
    return piece


def duplicated(job, inputs, width, bias=False):
    """A linear layer that every rank of tp has whole, run on this rank's tokens
    (extensions/transformer_engine.py, parallel_mode "duplicated";
    moe/router.py; moe/shared_experts.py)."""
    parameters = [Parameter(inputs * width, tp_sum=job.sp)]
    if bias:
        parameters.append(Parameter(width, tp_sum=job.sp))
    return Piece(parameters=parameters)


def exchange(job, query, key_value, context):
    """Forward and backward messages of attention over cp, keys and values as
    one (Transformer Engine, dot_product_attention/context_parallel.py): they
    are gathered and their gradients scattered; or go round in a ring, the
    gradients one step behind; or heads are exchanged for the sequence, as are
    queries and results."""
    def of(width):
        return job.tokens * width // job.tp * job.element

    if job.cp_comm == "p2p":
        step = ("ring", ("cp",), of(key_value) * (job.cp - 1))
        return [step], [step, step]
    if job.cp_comm == "a2a":
        each = [("all_to_all", ("cp",), of(w))
                for w in (query, key_value, context)]
        return each, each
    gather = ("all_gather", ("cp",), of(key_value) * job.cp)
    return [gather], [gather, ("reduce_scatter",) + gather[1:]]


def core_attention(job, query, key_value, context, kept_width):
    """A fused kernel keeps what it reads, and its result, which is also that of
    the exchange but for all-to-all. Without one the softmax is kept, with
    dropout its mask and its result too ([K], section 4.1: 5 a s/h); and where
    heads share keys and values (not job.latent), these once for each head and
    the queries head by head, in place of what they were copied from
    (transformer/dot_product_attention.py, repeat_interleave, reshape)."""
    forward, backward = exchange(job, query, key_value, context)
    if job.cp > 1 and job.cp_comm == "a2a":
        kept_width += context
    scores = 0
    if job.attention_backend == "unfused":
        scores = (job.micro_batch * job.heads // job.tp * job.sequence ** 2
                  * (2 * job.element + 1 if job.dropout else job.element))
        if not job.latent and job.rank_kv_heads < job.heads:
            scores += (job.tokens * (3 * query - kept_width) // job.tp
                       * job.element)
    return Piece(forward=forward, backward=backward, core=forward,
                 kept=job.tokens * kept_width // job.tp * job.element,
                 scores=scores)


def shared_heads(job, columns):
    """transformer/attention.py, get_query_key_value_tensors, if there are fewer
    key heads than ranks: all columns are gathered, and each rank copies its
    own; the gradient of the gather is a scatter."""
    whole = job.tokens * columns * job.element
    return Piece(forward=[("all_gather", ("tp",), whole)],
                 backward=[("reduce_scatter", ("tp",), whole)])


def attention(job):
    """transformer/attention.py. Norms of queries and keys are of heads of this
    rank: their gradients are summed over tp with or without sequence
    parallelism. A gate keeps both of its factors (_apply_output_gate, fused),
    of the gates a copy (contiguous). Sinks are a number for each head
    (transformer/dot_product_attention.py, softmax_offset)."""
    q, kv = job.heads * job.head_dim, job.kv_heads * job.head_dim
    own = job.rank_kv_heads * job.head_dim
    gate = q if job.gated and job.gated.gate else 0
    pieces = [column(job, job.hidden, q + gate + 2 * kv, job.qkv_bias)]
    if own > kv:
        pieces.append(shared_heads(job, q + gate + 2 * kv))
    copies_heads = (job.attention_backend == "unfused"
                    and job.recompute == "none"
                    and job.rank_kv_heads < job.heads)
    parts = gate
    # Parts of the projection's output keep all of it.
    if own == kv and (job.qk_norm or not copies_heads):
        parts += gate
    if job.qk_norm:
        pieces += [norm(job, job.head_dim, tokens=0, tp_sum=job.tp > 1)
                   for _ in range(2)]
        # The value is another part; a copy of it is not read any more.
        parts += q + own + (0 if copies_heads and own > kv else own)
    pieces.append(Piece(kept=job.tokens * parts // job.tp * job.element))
    pieces.append(core_attention(
        job, q, 2 * own, q, q + own if job.qk_norm else q + 2 * own))
    if job.gated and job.gated.sinks:
        pieces.append(Piece(parameters=[Parameter(job.heads // job.tp, core=True)]))
    if gate: # the product is what the projection reads
        pieces.append(Piece(kept=job.tokens * q // job.tp * job.element))
    return pieces + [row(job, q, job.hidden, job.bias)]


def exchanged(job, width):
    """ssm/mamba_context_parallel.py: tokens of all heads for all tokens of some
    heads, or back."""
    sent = [("all_to_all", ("cp",), job.tokens * width // job.tp * job.element)]
    return Piece(forward=sent, backward=sent)


def delta_net(job):
    """ssm/gated_delta_net/common.py, _GDNBase: six components in one projection,
    exchanged over cp with all others of a rank's heads; what comes out is
    exchanged back. Convolution, decay and norm of a head have weights of this
    rank's heads, but for the norm, which is whole. flash-linear-attention's
    ops/gated_delta_rule/chunk.py keeps queries and keys of each value head and
    their norms, values, decay and strength in fp32, and products of chunks of
    64 tokens; its fused norm keeps the result of the rule and the gate."""
    d = job.mixer
    k, v = d.key_heads * d.key_dim, d.value_heads * d.value_dim
    columns = 2 * k + 2 * v + 2 * d.value_heads
    kept = (columns + 2 * k + v + 2 * d.value_heads * d.key_dim + v
            + 64 * d.value_heads + 2 * v)
    return [
        column(job, job.hidden, columns), exchanged(job, columns),
        Piece(kept=job.tokens // job.tp * (
                  kept * job.element + 4 * d.value_heads * 4),
              parameters=[
                  Parameter((2 * k + v) * d.kernel // job.tp),
                  Parameter(d.value_heads // job.tp),
                  Parameter(d.value_heads // job.tp),
                  Parameter(d.value_dim, tp_sum=job.tp > 1)]),
        exchanged(job, v), row(job, v, job.hidden)]


def mamba(job):
    """ssm/mamba_mixer.py, MambaMixer: five components in one projection; weights
    of the convolution (with a bias), of heads (A_log and D in fp32) and of the
    norm, whose groups are those of B and C, are of this rank's heads. mamba_ssm's
    mamba_split_conv1d_scan_combined keeps the projection's output and its result
    before the gate, the norm outside of it what it reads."""
    m = job.mixer
    inner, mixing = m.heads * m.head_dim, 2 * m.groups * m.state
    columns = 2 * inner + mixing + m.heads
    return [
        column(job, job.hidden, columns), exchanged(job, columns),
        Piece(kept=job.tokens // job.tp * (columns + 2 * inner) * job.element,
              parameters=[
                  Parameter((inner + mixing) * m.kernel // job.tp),
                  Parameter((inner + mixing) // job.tp),
                  Parameter(m.heads // job.tp, fp32=True),
                  Parameter(m.heads // job.tp, fp32=True),
                  Parameter(m.heads // job.tp),
                  Parameter(inner // job.tp)]),
        exchanged(job, inner), row(job, inner, job.hidden)]


def latent_attention(job):
    """transformer/multi_latent_attention.py. The key is expanded to all heads
    with its rotary part before core attention; key and value are copies. Of
    k_pos_emb the gather alone is issued in the forward pass, the scatter of its
    gradient in the backward pass; nothing without sequence parallelism."""
    m, heads = job.latent, job.heads
    head = m.nope + m.rope
    rotary = job.tokens * m.rope * job.element
    pieces = [Piece(forward=[("all_gather", ("tp",), rotary)],
                    backward=[("reduce_scatter", ("tp",), rotary)])
              ] if job.sp else []
    if m.q_lora:
        pieces += [duplicated(job, job.hidden, m.q_lora),
                   norm(job, m.q_lora),
                   column(job, m.q_lora, heads * head)]
    else:
        pieces += [column(job, job.hidden, heads * head, keeps_input=False)]
    return pieces + [
        duplicated(job, job.hidden, m.kv_lora + m.rope),
        Piece(kept=job.local * job.hidden * job.element),
        norm(job, m.kv_lora, kept_width=m.kv_lora + m.rope),
        column(job, m.kv_lora, heads * (m.nope + m.v)),
        core_attention(job, heads * head, heads * (head + m.v), heads * m.v,
                       heads * (2 * head + m.v)),
        row(job, heads * m.v, job.hidden, job.bias)]


def feed_forward(job, width, bias, keeps_input=True):
    """transformer/mlp.py; the activation keeps its input."""
    inner = width * job.fc1_parts
    return [column(job, job.hidden, inner, bias, keeps_input),
            Piece(kept=job.tokens * inner // job.tp * job.element),
            row(job, width, job.hidden, bias)]


def all_to_all(job):
    """moe/token_dispatcher.py, MoEAlltoAllTokenDispatcher: the tokens of each
    expert are gathered (preprocess), copies of this rank's tokens and their
    probabilities go to the experts, whole within an expert's tensor-parallel
    group, and what comes out goes back."""
    e, axes = job.experts, ("etp", "ep")
    sent = job.local * e.topk * (e.latent or job.hidden) * job.element
    weights = job.local * e.topk * BYTES[e.precision]
    return [("all_gather", axes, 8 * e.count * job.size(axes)),
            ("all_to_all", ("ep",), sent), ("all_to_all", ("ep",), weights),
            ("all_gather", ("etp",), sent * job.etp),
            ("all_gather", ("etp",), weights * job.etp),
            # In the type of the router (combine_preprocess).
            ("reduce_scatter", ("etp",),
             sent * job.etp // job.element * BYTES[e.precision]),
            ("all_to_all", ("ep",), sent)]


def all_gather(job):
    """moe/token_dispatcher.py, MoEAllGatherTokenDispatcher: all tokens, and for
    each expert a byte that says whether it was chosen and its probability, go
    to all ranks of all experts."""
    e, axes = job.experts, ("etp", "ep")
    tokens = job.local * job.size(axes)
    hidden = tokens * (e.latent or job.hidden) * job.element
    return [("all_gather", axes, tokens * e.count),
            ("all_gather", axes, tokens * e.count * BYTES[e.precision]),
            ("all_gather", axes, hidden),
            # In the type of the router (token_combine).
            ("reduce_scatter", axes, hidden // job.element * BYTES[e.precision])]


def dispatch(job):
    """Messages there and back, and of the gradients; counts and the map of
    choices, the first that are gathered, have none."""
    transposed = {"all_to_all": "all_to_all", "all_gather": "reduce_scatter",
                  "reduce_scatter": "all_gather"}
    forward = (all_gather if job.experts.dispatcher == "allgather"
               else all_to_all)(job)
    return forward, [(transposed[op], *rest)
                     for op, *rest in reversed(forward[1:])]


def routed_experts(job):
    """moe/experts.py: no communication of its own; the activation is multiplied
    by the probabilities; biases for each local expert. Routing is balanced.
    Only SwiGLU is one kernel with the product (bias_act_func); else the product
    keeps what it multiplies, and that of a gate (glu) both factors, of which
    the linear one is a tensor of its own (glu_linear_offset)."""
    e = job.experts
    forward, backward = dispatch(job)
    slots = job.local * e.topk * job.etp
    inner = e.ffn * job.fc1_parts
    local = e.count // job.ep
    width = e.latent or job.hidden
    sizes = [local * width * inner // job.etp,
             local * e.ffn // job.etp * width]
    if job.bias:
        sizes += [local * inner // job.etp, local * width]
    steps = {"swiglu": 0, "geglu": 3}.get(job.activation, 1)
    kept = (slots * (width + (inner + (1 + steps) * e.ffn) // job.etp)
            * job.element + slots * BYTES[e.precision])
    return Piece(forward=forward, backward=backward, kept=kept,
                 parameters=[Parameter(n, expert=True) for n in sizes])


AUX_LOSSES = {  # axes of the sum, counts of an expert in a micro-batch
    "none": ((), lambda job: 0),
    "aux_loss": (("tp", "cp"), lambda job: 1),
    "seq_aux_loss": (("tp", "cp"), lambda job: job.micro_batch),
    "global_aux_loss": (("tp", "cp", "dp", "dp_replicate"), lambda job: 1),
}


def router(job):
    """moe/router.py. The bias that balances load is no parameter with a
    gradient, the router's own one (of add_bias_linear) is. An auxiliary loss
    sums counts of tokens, 8 bytes each, in the pass that has gradients."""
    e = job.experts
    axes, counts = AUX_LOSSES[e.aux_loss]
    balance = Piece(
        loss=[("all_reduce", axes, 8 * e.count * counts(job))],
        kept=job.local * e.count * BYTES[e.precision])
    if e.router_bias:
        balance.parameters.append(Parameter(e.count, trained=False))
    return [duplicated(job, job.hidden, e.count, job.bias), balance]


def mixture(job):
    """moe/moe_layer.py; router and shared experts read the norm's output, kept
    once."""
    e = job.experts
    pieces = [Piece(kept=job.local * job.hidden * job.element)]
    if e.shared:
        pieces += feed_forward(job, e.shared, job.bias, keeps_input=False)
    if e.shared and e.gate:
        # The product keeps both factors: the scattered output and the gate.
        pieces += [duplicated(job, job.hidden, 1),
                   Piece(kept=job.local * (job.hidden + 1) * job.element)]
    pieces += router(job)
    if not e.latent:
        return pieces + [routed_experts(job)]
    # fc1_latent_proj and fc2_latent_proj run on this rank's tokens; the first
    # reads the norm's output, too.
    return pieces + [
        duplicated(job, job.hidden, e.latent, job.bias), routed_experts(job),
        Piece(kept=job.local * e.latent * job.element),
        duplicated(job, e.latent, job.hidden, job.bias)]


def batch(job, *sizes):
    """core/utils.py, get_batch_on_this_tp_rank, on the first and the last
    stage: so many bytes of a token, of whole samples, which are split over cp
    afterwards."""
    return [("broadcast", ("tp",), job.sequence * job.micro_batch * size)
            for size in sizes]


def mask(job):
    """The attention mask of a loader that makes one."""
    return batch(job, job.sequence) if job.attention_mask else []


def kept_mask(job):
    """A rank's part of it, an argument of checkpoints that have attention in
    them (tensor_parallel/random.py, CheckpointFunction)."""
    has_it = job.recompute == "full" or (
        job.recompute == "selective" and not job.mixer)
    return job.tokens * job.sequence if job.attention_mask and has_it else 0


def embedding(job):
    """tensor_parallel/layers.py, VocabParallelEmbedding, and
    models/common/embeddings/language_model_embedding.py: with learned positions
    the sum is reduced whole, then split. A table keeps the numbers of its rows,
    8 bytes a token."""
    whole = job.tokens * job.hidden * job.element
    scattered = job.sp and job.positions != "learned"
    piece = Piece(
        forward=batch(job, 8, 8) + mask(job) + [
            ("reduce_scatter" if scattered else "all_reduce", ("tp",), whole)],
        parameters=[Parameter(job.padded_vocab // job.tp * job.hidden)],
        kept=8 * job.tokens + kept_mask(job))
    if job.sp:
        piece.backward = [("all_gather", ("tp",), whole)]
    if job.positions == "learned":
        piece.parameters.append(Parameter(job.sequence * job.hidden))
        piece.kept += 8 * job.tokens
    return [piece, dropout(job)]


def frame(job, is_first):
    """transformer/multi_token_prediction.py, MultiTokenPredictionLayer: norms of
    the hidden state and of the embedding of later tokens, which go through one
    column-parallel projection. Its result is gathered, then sliced, so that
    the gradient is gathered, too (_concat_embeddings, gather_output,
    scatter_to_sequence_parallel_region)."""
    whole = job.tokens * job.hidden * job.element
    lookup = Piece(
        once=[("reduce_scatter" if job.sp else "all_reduce", ("tp",),
                  whole)],
        backward=[("all_gather", ("tp",), whole)] if job.sp else [],
        kept=8 * job.tokens if is_first else 0, # once for all depths
        kept_once=whole // job.tp if job.sp else whole)
    projection = column(job, 2 * job.hidden, job.hidden)
    projection.forward.append(("all_gather", ("tp",), whole))
    if job.sp:
        projection.backward.insert(0, ("all_gather", ("tp",), whole))
    return [lookup, norm(job, job.hidden), norm(job, job.hidden), projection]


def branch(job, network):
    """All depths of a branch. Depths that share weights have one gradient; the
    table of words is a copy of the embedding's."""
    table = Parameter(job.padded_vocab // job.tp * job.hidden, tied=True)
    # The last stage of several gets tokens and position ids; one has them.
    pieces = [Piece(once=batch(job, 8, 8) if job.pp > 1 else [],
                    parameters=[table]),
              norm(job, job.hidden)]
    for depth in range(job.branch.depths):
        own = (frame(job, depth == 0) + layer(job, network)
               + [norm(job, job.hidden)])
        if depth and job.branch.shared:
            own = [dataclasses.replace(p, parameters=[]) for p in own]
        pieces += own
    return pieces


def head(job):
    """models/gpt/gpt_model.py; tensor_parallel/cross_entropy.py reduces three
    fp32 terms a token and keeps the fp32 softmax ([K], section 4.3);
    fusions/fused_cross_entropy.py reduces two of them together; Transformer
    Engine's pytorch/triton/cross_entropy.py gathers those of each rank.
    transformer/multi_token_prediction.py, _vocab_parallel_argmax, gathers the
    largest logit and its index of each rank for each further token."""
    terms = {"none": [("all_reduce", ("tp",), 4 * job.tokens)] * 3,
             "native": [("all_reduce", ("tp",), n * 4 * job.tokens)
                        for n in (1, 2)],
             "te": [("all_gather", ("tp",), 3 * 4 * job.tokens * job.tp)]}
    is_read = job.pp > 1  # else by the embedding
    pieces = [Piece(forward=batch(job, 8, 4) + (mask(job) if is_read else []),
                    kept=kept_mask(job) if is_read else 0)]
    if not job.branch:
        pieces.append(norm(job, job.hidden))
    depths = job.branch.depths if job.branch else 0
    compared = [("all_gather", ("tp",), size * job.tokens * job.tp)
                for size in (job.element, 8)]
    for prediction in range(1 + depths):
        # Beside a branch, it is a table of its own.
        logits = column(job, job.hidden, job.padded_vocab,
                        tied=job.tied and not (job.branch and job.pp > 1))
        if prediction: # with the weight of the first
            logits.parameters = []
        messages = terms[job.fused_loss] + compared * (prediction < depths)
        pieces += [logits, Piece(forward=messages, kept=(
            job.tokens * job.padded_vocab // job.tp
            * (job.element if job.fused_loss == "te" else 4)))]
    return pieces


def dropout(job):
    """Keeps its mask, a byte an element ([K], section 4.1)."""
    return Piece(kept=job.local * job.hidden if job.dropout else 0)


def layer(job, network):
    attend = latent_attention if job.latent else attention
    if job.mixer:
        attend = mamba if isinstance(job.mixer, Mamba) else delta_net
    return ([norm(job, job.hidden)] + attend(job)
            + [dropout(job), norm(job, job.hidden)] + network
            + [dropout(job)])
