# SPDX-License-Identifier: Apache-2.0
"""What a job communicates, stores and keeps, from Megatron-LM's source: blocks
as lists of pieces (pieces.py), and the stages made of them.

A message is (phase, op, axes, bytes), its bytes as ir/model/Program.h counts them:
of an all-gather the gathered tensor, of a reduction the one before it, of an
all-to-all or a broadcast the buffer of one rank, of a ring what a rank sends.
"""

import dataclasses
import math

from pieces import (Parameter, branch, embedding, feed_forward, head, layer,
                    mixture, sharers)

LAYERS = ("dense", "moe", "mtp")  # blocks that can be computed again


def network(job, block):
    if block == "moe":
        return mixture(job)
    return feed_forward(job, job.ffn, job.bias)


BLOCKS = {
    "embedding": embedding,
    "dense": lambda job: layer(job, network(job, "dense")),
    "moe": lambda job: layer(job, network(job, "moe")),
    "mtp": lambda job: branch(job, network(job, job.layers[-1])),
    "head": head,
}


def parameters(job, block):
    return [p for piece in BLOCKS[block](job) for p in piece.parameters]


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


def zero_messages(job, block):
    """Megatron-FSDP (distributed/fsdp/src/megatron_fsdp): gradients are
    reduced in every backward pass with optim_grads (2) and optim_grads_params
    (3), which gathers a layer's parameters for the forward pass and once for
    recomputation and the backward pass together."""
    if job.zero < 2:
        return
    for p in parameters(job, block):
        if not p.trained:
            continue
        if not is_spare(job, p):
            yield ("backward",) + sharded(job, p, "reduce_scatter", job.grad)
        if job.zero == 3 and block in LAYERS:
            gather = sharded(job, p, "all_gather",
                             4 if p.fp32 else job.element)
            yield ("forward",) + gather
            is_again = job.recompute == "full" or (
                p.core and job.recompute == "selective")
            again = "recompute" if is_again else "backward"
            yield (again,) + gather


def messages(job, block):
    """Of one micro-batch; ZeRO's last, the others in order."""
    pieces = BLOCKS[block](job)
    is_whole = block in LAYERS and job.recompute == "full"
    again = [m for p in pieces for m in (p.forward + p.loss if is_whole else p.core)]
    if block not in LAYERS or job.recompute == "none":
        again = []
    of = {"forward": [m for p in pieces for m in p.once + p.forward + p.loss * (not is_whole)],
          "recompute": again,
          "backward": [m for p in reversed(pieces) for m in p.backward]}
    found = [(phase,) + m for phase, ms in of.items() for m in ms]
    return on_mesh(job, found + list(zero_messages(job, block)))


def on_mesh(job, found):
    """There are no groups of one rank."""
    for phase, op, axes, size in found:
        axes = tuple(a for a in axes if getattr(job, a) > 1)
        if axes and size:
            yield phase, op, axes, size


def kept(job, block):
    """Full recomputation keeps a layer's input ([K], section 5); of a branch also the
    numbers of the words that it looks up, and what it finds."""
    if block in LAYERS and job.recompute == "full":
        ids = 8 * job.tokens if block == "mtp" else 0
        return (job.local * job.hidden * job.element + ids
                + sum(piece.kept_once for piece in BLOCKS[block](job)))
    return sum(piece.kept + (piece.scores if job.recompute == "none" else 0)
               for piece in BLOCKS[block](job))


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
            for p in parameters(job, block) if not is_spare(job, p)]


def stage_parameters(job, stage):
    return [p for number in range(job.vpp)
            for p in chunk_parameters(job, stage, number)]


def round_up(number, step):
    return -(-number // step) * step


def buffers_of(job, held, tables, is_table_first):
    """The buffers of a chunk: of dense parameters, of tables of two stages with ZeRO 1, and of
    experts, the last layers' first. With ZeRO 1 each parameter, and so each expert, begins at a multiple of 64, and a
    buffer ends at one of 128 in each share (optimizer/param_layout.py)."""
    is_apart = job.ep > 1 or job.etp != job.tp or job.zero > 1

    def elements(p):
        each = job.experts.count // job.ep if p.expert else 1
        return round_up(p.elements // each, 64) * each if job.zero == 1 else p.elements

    parts = {}
    for p in held:
        is_expert = p.expert and is_apart
        key = is_expert, job.zero == 1 and (p in tables) != is_table_first
        parts[key] = parts.get(key, 0) + elements(p)
    for (is_expert, _), size in sorted(parts.items()):
        step = math.lcm(job.size(sharers(Parameter(0, is_expert))), 128) if job.zero == 1 else 1
        yield Parameter(round_up(size, step), is_expert)


def buffer_messages(job, stage, chunks, tables):
    """Of the step's buffers, which hold all parameters of a chunk with the same sharers
    (distributed/param_and_grad_buffer.py): reductions and gathers. If any stage has
    experts, each has two optimizers, and each of them gathers all
    (DistributedOptimizer.step_with_ready_grads)."""
    is_table_first = stage > 0 and job.tied and not job.branch
    buffers = [b for held in chunks for b in buffers_of(job, held, tables, is_table_first)]
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
    table = Parameter(job.padded_vocab // job.tp * job.hidden)
    is_end = (job.tied or job.branch) and job.pp > 1 and stage in (0, job.pp - 1)
    reduced, gathered = buffer_messages(job, stage, chunks if job.zero < 2 else [held], [
        dataclasses.replace(table, tied=tied) for tied in (False, True)
        if is_end and (tied or stage == 0)])
    found = reduced + [
        ("all_reduce", ("tp",), size(p for p in held if p.tp_sum))]
    if (job.tied or job.branch) and stage in (0, job.pp - 1):
        found.append(("all_reduce", ("ends",), size([table])))
    blocks = [b for n in range(job.vpp) for b in chunk(job, stage, n)]
    routers = blocks.count("moe")
    if "mtp" in blocks and job.layers[-1] == "moe":
        routers += 1 if job.branch.shared else job.branch.depths
    if routers and job.experts.router_bias:
        found.append(("all_reduce", ("tp", "cp", "dp", "dp_replicate"),
                      job.element * job.experts.count * routers))
    if job.per_token_loss:
        found += [("broadcast", ("pp",), 4),
                  ("all_reduce", ("cp", "dp", "dp_replicate"), 4)]
    return on_mesh(job, [("step",) + m for m in found + gathered])


def boundary(job):
    """Between neighbouring stages (pipeline_parallel/schedules.py)."""
    return job.local * job.hidden * job.element
