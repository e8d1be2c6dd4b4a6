# SPDX-License-Identifier: Apache-2.0
"""What a job communicates, stores and keeps, from Megatron-LM's source: its blocks (block.py,
layers.py), and the stages made of them.

A message is (phase, op, axes, bytes), its bytes as ir/model/Program.h counts them:
of an all-gather the gathered tensor, of a reduction the one before it, of an
all-to-all or a broadcast the buffer of one rank, of a ring what a rank sends.
"""

import functools
import math

from block import TP, Block, Parameter
from layers import layer

LAYERS = ("dense", "moe")


def sharers(parameter):
    """Axes of the ranks that hold the same parameter."""
    return ("edp",) if parameter.expert else ("cp", "dp")


def batch(job, *sizes):
    """Returns broadcasts of so many bytes of a token, of whole samples, which are split over cp
    afterwards (core/utils.py, get_batch_on_this_tp_rank, on the first and the last stage)."""
    return [("broadcast", TP, job.sequence * job.micro_batch * size) for size in sizes]


def mask_sizes(job):
    """Returns the bytes of the attention mask for a token, if the loader makes one."""
    return [job.sequence] * job.attention_mask


def save_mask(b):
    """Saves a rank's part of the mask, an argument of checkpoints that have attention in them
    (tensor_parallel/random.py, CheckpointFunction)."""
    job = b.job
    has_it = job.recompute == "full" or job.recompute == "selective" and not job.mixer
    b.save("attention mask", b.tokens * job.sequence if job.attention_mask and has_it else 0, 1)


def embedding(b):
    """tensor_parallel/layers.py, VocabParallelEmbedding, and
    models/common/embeddings/language_model_embedding.py: with learned positions the sum is reduced
    whole, then split. A table saves the numbers of its rows, 8 bytes a token."""
    job, whole = b.job, b.tokens * b.job.hidden * b.job.element
    is_cut = job.sp and job.positions != "learned"
    b.send(*batch(job, 8, 8, *mask_sizes(job)), ("reduce_scatter" if is_cut else "all_reduce", TP, whole),
           back=[("all_gather", TP, whole)] * job.sp)
    b.own(job.padded_vocab // job.tp * job.hidden, table=True)
    b.save("words", b.tokens, 8)
    if job.positions == "learned":
        b.own(job.sequence * job.hidden)
        b.save("positions", b.tokens, 8)
    save_mask(b)
    b.save("dropout", b.local * job.hidden if job.dropout else 0, 1)


def depth(b, is_first):
    """transformer/multi_token_prediction.py, MultiTokenPredictionLayer: norms of the hidden state and
    of the embedding of later tokens, which go through one column-parallel projection. Its result is
    gathered, then sliced, so that the gradient is gathered, too (_concat_embeddings, gather_output,
    scatter_to_sequence_parallel_region). Tokens are saved once for all depths."""
    job, whole = b.job, b.tokens * b.job.hidden * b.job.element
    gather = [("all_gather", TP, whole)]
    b.send(("reduce_scatter" if job.sp else "all_reduce", TP, whole), back=gather * job.sp, word="once")
    b.save("words", b.tokens if is_first else 0, 8)
    b.saved_once = (whole // job.tp if job.sp else whole) + (8 * b.tokens if is_first else 0)
    b.norm("embedding", job.hidden)
    b.norm("hidden", job.hidden)
    b.column("both", 2 * job.hidden, job.hidden)
    b.send(*gather, back=gather * job.sp)
    layer(b, job.layers[-1])
    b.norm("result", job.hidden)


def branch(b):
    """All depths of a branch, with the norm of the hidden state before it. Depths that share weights
    have one gradient; the table of words is a copy of the embedding's. The last stage of several gets
    tokens and position ids; one has them."""
    job = b.job
    b.send(*batch(job, 8, 8) * (job.pp > 1), word="once")
    b.own(job.padded_vocab // job.tp * job.hidden, tied=True)
    b.norm("last", job.hidden)
    for number in range(job.branch.depths):
        one = Block(job)
        depth(one, number == 0)
        b.include(one, number, number == 0 or not job.branch.shared)


def head(b):
    """models/gpt/gpt_model.py; tensor_parallel/cross_entropy.py reduces three fp32 terms a token and
    saves the fp32 softmax ([K], section 4.3); fusions/fused_cross_entropy.py reduces two of them
    together; Transformer Engine's pytorch/triton/cross_entropy.py gathers those of each rank.
    transformer/multi_token_prediction.py, _vocab_parallel_argmax, gathers the largest logit and its
    index of each rank for each further token."""
    job = b.job
    terms = {"none": [("all_reduce", TP, 4 * b.tokens)] * 3,
             "native": [("all_reduce", TP, n * 4 * b.tokens) for n in (1, 2)],
             "te": [("all_gather", TP, 3 * 4 * b.tokens * job.tp)]}
    is_read = job.pp > 1  # else by the embedding
    b.send(*batch(job, 8, 4, *mask_sizes(job) * is_read))
    if is_read:
        save_mask(b)
    # The norm that a branch has is that of the head; with norms after sums there is none.
    if not job.branch and job.placement != "after_sum":
        b.norm("x", job.hidden)
    depths = job.branch.depths if job.branch else 0
    compared = [("all_gather", TP, size * b.tokens * job.tp) for size in (job.element, 8)]
    for prediction in range(1 + depths):
        logits = Block(job)
        # Beside a branch, it is a table of its own; further predictions have the weight of the first.
        logits.column("normed", job.hidden, job.padded_vocab, tied=job.tied and not (
            job.branch and job.pp > 1))
        logits.send(*terms[job.fused_loss], *compared * (prediction < depths))
        logits.save("softmax", b.tokens * job.padded_vocab // job.tp,
                    job.element if job.fused_loss == "te" else 4)
        b.include(logits, prediction, not prediction)


@functools.lru_cache(maxsize=64)
def block_of(job, name):
    """Returns what a rank does in a block of the job."""
    b = Block(job, is_layer=name not in ("embedding", "head"))
    if name in LAYERS:
        layer(b, name)
    else:
        {"embedding": embedding, "head": head, "mtp": branch}[name](b)
    return b


def is_spare(job, parameter):
    """The output layer of a tied model on the stage of the table is the
    table."""
    return parameter.tied and job.pp == 1


def share(elements, ranks):
    """ZeRO's share of a rank, padded."""
    return -(-elements // ranks)


def sharded(job, parameter, op, element):
    """A collective of one parameter over the ranks that share it."""
    axes = sharers(parameter)
    ranks = job.size(axes)
    return (op, axes, share(parameter.elements, ranks) * ranks * element)


def zero_messages(b):
    """Megatron-FSDP (distributed/fsdp/src/megatron_fsdp): gradients are
    reduced in every backward pass with optim_grads (2) and optim_grads_params
    (3), which gathers a layer's parameters for the forward pass and once for
    recomputation and the backward pass together."""
    job = b.job
    for p in b.parameters if job.zero > 1 else ():
        if not p.trained:
            continue
        if not is_spare(job, p):
            yield ("backward",) + sharded(job, p, "reduce_scatter", job.grad)
        if job.zero == 3 and b.is_layer:
            gather = sharded(job, p, "all_gather", 4 if p.fp32 else job.element)
            yield ("forward",) + gather
            is_again = job.recompute == "full" or p.core and job.recompute == "selective"
            yield ("recompute" if is_again else "backward",) + gather


def messages(b):
    """Returns those of one micro-batch; ZeRO's last, the others in order."""
    again = {"full": ("", "core", "loss"), "selective": ("core",), "none": ()}[b.recompute]
    found = [("forward", *m) for m, word in b.forward
             if b.recompute != "full" or word != "loss"]
    found += [("recompute", *m) for m, word in b.forward if word in again]
    found += [("backward", *m) for m in b.backward]
    return list(on_mesh(b.job, found + list(zero_messages(b))))


def on_mesh(job, found):
    """There are no groups of one rank."""
    for phase, op, axes, size in found:
        axes = tuple(a for a in axes if getattr(job, a) > 1)
        if axes and size:
            yield phase, op, axes, size


def kept(b):
    """Returns the bytes that a micro-batch saves; full recomputation saves a layer's input ([K],
    section 5)."""
    if b.recompute == "full":
        return b.local * b.job.hidden * b.job.element + b.saved_once
    return sum(b.saved.values())


def flops(b):
    """Returns those of all passes; what is recomputed is a third of them."""
    again = {"full": b.flops.total(), "selective": b.flops["core_attn"], "none": 0}[b.recompute]
    return b.flops.total() + again // 3


def chunk(job, stage, number):
    """Blocks of a model chunk: chunks go round the stages."""
    each = len(job.layers) // (job.pp * job.vpp)
    first = (number * job.pp + stage) * each
    blocks = job.layers[first:first + each]
    if stage == 0 and number == 0:
        blocks = ["embedding"] + blocks
    if stage == job.pp - 1 and number == job.vpp - 1:
        blocks = blocks + (["mtp"] if job.branch else []) + ["head"]
    return blocks


def chunk_parameters(job, stage, number):
    """What one rank of the stage holds of a chunk; a tied table once a rank."""
    return [p for block in chunk(job, stage, number)
            for p in block_of(job, block).parameters if not is_spare(job, p)]


def stage_parameters(job, stage):
    return [p for number in range(job.vpp)
            for p in chunk_parameters(job, stage, number)]


def round_up(number, step):
    return -(-number // step) * step


def buffers_of(job, held, is_table_first):
    """The buffers of a chunk: of dense parameters, of tables of two stages with ZeRO 1, and of
    experts, the last layers' first. With ZeRO 1 each parameter, and so each expert, begins at a
    multiple of 64, and a buffer ends at one of 128 in each share (optimizer/param_layout.py)."""
    is_apart = job.ep > 1 or job.etp != job.tp or job.zero > 1
    is_split = job.zero == 1 and job.pp > 1 and (job.tied or job.branch)

    def elements(p):
        each = job.experts.count // job.ep if p.expert else 1
        return round_up(p.elements // each, 64) * each if job.zero == 1 else p.elements

    parts = {}
    for p in held:
        is_expert = p.expert and is_apart
        key = is_expert, is_split and (p.table or p.tied) != is_table_first
        parts[key] = parts.get(key, 0) + elements(p)
    for (is_expert, _), size in sorted(parts.items()):
        step = math.lcm(job.size(sharers(Parameter(0, is_expert))), 128) if job.zero == 1 else 1
        yield Parameter(round_up(size, step), is_expert)


def buffer_messages(job, stage, chunks):
    """Of the step's buffers, which hold all parameters of a chunk with the same sharers
    (distributed/param_and_grad_buffer.py): reductions and gathers. If any stage has
    experts, each has two optimizers, and each of them gathers all
    (DistributedOptimizer.step_with_ready_grads)."""
    is_table_first = stage > 0 and job.tied and not job.branch
    buffers = [b for held in chunks for b in buffers_of(job, held, is_table_first)]
    is_apart = job.ep > 1 or job.etp != job.tp
    times = 2 if job.zero == 1 and is_apart and any(
        p.expert and p.trained for each in range(job.pp)
        for p in stage_parameters(job, each)) else 1
    reduced = []
    for b in buffers:
        if job.zero == 0:
            reduced.append(("all_reduce", sharers(b), b.elements * job.grad))
        if job.zero == 1:
            reduced.append(sharded(job, b, "reduce_scatter", job.grad))
        # Then replicas that hold the same share.
        reduced.append(("all_reduce", ("dp_replicate",),
                        share(b.elements, job.size(sharers(b))) * job.grad))
    gathered = [sharded(job, b, "all_gather", job.element) for b in buffers] * times
    return reduced, gathered if job.zero in (1, 2) else []


def step_messages(job, stage):
    """distributed/finalize_model_grads.py, in its order; with ZeRO 2 and 3 the
    gradients summed over tp and of the tied tables are shares."""
    def size(parameters):
        return sum(share(p.elements, job.size(sharers(p))) if job.zero >= 2
                   else p.elements for p in parameters) * job.grad

    chunks = [[p for p in chunk_parameters(job, stage, number) if p.trained]
              for number in range(job.vpp)]
    held = [p for of in chunks for p in of]
    reduced, gathered = buffer_messages(job, stage, chunks if job.zero < 2 else [held])
    found = reduced + [
        ("all_reduce", TP, size(p for p in held if p.tp_sum))]
    if (job.tied or job.branch) and stage in (0, job.pp - 1):
        found.append(("all_reduce", ("ends",), size(
            [Parameter(job.padded_vocab // job.tp * job.hidden)])))
    blocks = [b for n in range(job.vpp) for b in chunk(job, stage, n)]
    routers = blocks.count("moe")
    if "mtp" in blocks and job.layers[-1] == "moe":
        routers += 1 if job.branch.shared else job.branch.depths
    if routers and job.experts.router_bias:
        found.append(("all_reduce", ("tp", "cp", "dp", "dp_replicate"),
                      job.element * job.experts.ways * routers))
    if job.per_token_loss:
        found += [("broadcast", ("pp",), 4),
                  ("all_reduce", ("cp", "dp", "dp_replicate"), 4)]
    return on_mesh(job, [("step",) + m for m in found + gathered])


def boundary(job):
    """Between neighbouring stages (pipeline_parallel/schedules.py)."""
    return job.local * job.hidden * job.element
