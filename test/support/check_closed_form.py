# SPDX-License-Identifier: Apache-2.0
"""usage: check_closed_form.py SEED COUNT

Compiles random jobs and compares each with its closed form: the collectives
of every block, those of every stage's step, and what each model chunk holds,
keeps and sends."""

import collections
import dataclasses

import closed_form
import tool
from ftir import Program
from job import Kimi, text_of
from random_jobs import (random_job, with_branch, with_grouped_attention, with_more_experts,
                         with_mixer, with_own_attention)


def merged(messages):
    """With the messages of attention over cp as one of each op: keys and values
    may go together or apart."""
    found, first = [], {}
    for phase, op, axes, size in messages:
        if axes == ("cp",) and (phase, op) in first:
            place = first[phase, op]
            found[place] = (phase, op, axes, found[place][3] + size)
            continue
        if axes == ("cp",):
            first[phase, op] = len(found)
        found.append((phase, op, axes, size))
    return found


def compare_lists(what, expected, got, ordered=True):
    """Counts, and where those agree and it is asked for, order."""
    expected, got = merged(expected), merged(got)
    missing = collections.Counter(expected)
    missing.subtract(got)
    for message, n in sorted(missing.items()):
        if n:
            yield f"{what}: {abs(n)} {'more' if n > 0 else 'less'} of {message}"
    if ordered and not any(missing.values()):
        for phase in sorted({m[0] for m in expected}):
            want = [m[1:] for m in expected if m[0] == phase]
            have = [m[1:] for m in got if m[0] == phase]
            if want != have:
                yield f"{what}: in order {want}, not {have}"


def compare_messages(job, program):
    """ZeRO's messages stand between the others, and that of a block with
    several branches in another order."""
    for block, got in program.blocks.items():
        if block.startswith("step"):
            continue
        b = closed_form.block_of(job, block)
        if job.zero == 3 and not b.is_layer:
            got = [m for m in got if m[1] != "all_gather" or m[2] == ("tp",)]
        yield from compare_lists(
            block, closed_form.messages(b), got,
            job.zero < 2 and not job.latent and block != "moe"
            and (block != "mtp" or job.layers[-1] != "moe"))
        # Nothing determines the FLOPs of recurrent mixers.
        if b.is_layer and not job.mixer and program.totals[block]["flops"] != closed_form.flops(b):
            yield f"{block}: {program.totals[block]['flops']} FLOPs, not {closed_form.flops(b)}"
    for first, last, step in program.stages:
        for stage in tool.each((first, last)):
            yield from compare_lists(
                f"step of stage {stage}",
                closed_form.step_messages(job, stage), program.blocks[step])


def compare_block(b, name, program, without=()):
    """A block of a job that is not one of closed_form.py, but for some of `messages`, `flops` and
    `kept`."""
    if "messages" not in without:
        got = [m for m in program.blocks[name] if m[1] != "broadcast"]
        yield from compare_lists(name, closed_form.messages(b), got, ordered=False)
    expected = {"parameters": sum(p.elements for p in b.parameters), "flops": closed_form.flops(b),
                "kept": closed_form.kept(b)}
    for what, value in expected.items():
        if what not in without and program.totals[name][what] != value:
            yield f"{name}: {program.totals[name][what]} {what}, not {value}"


def compare_step(job, program, blocks, has_norm=True, over_tp=True):
    """distributed/finalize_model_grads.py of a job with one stage and without ZeRO: gradients over
    replicas, partial sums over tp, and counts of tokens of experts. Blocks come with their numbers;
    has_norm is whether the head has one. Parameters of embedding and head are the program's."""
    is_plain = job.ep == 1 and job.etp == job.tp
    held = [(p, n) for b, n in blocks for p in b.parameters]
    sums = {what: sum(n * p.elements for p, n in held if is_meant(p)) for what, is_meant in {
        "tp": lambda p: p.tp_sum, "edp": lambda p: p.expert and not is_plain,
        "dp": lambda p: p.trained and (is_plain or not p.expert), "counts": lambda p: not p.trained}.items()}
    sums["tp"] += job.hidden * (2 if job.norm == "layernorm" else 1) * (has_norm and job.sp)
    sums["dp"] += sum(program.totals[name]["parameters"] for name in ("embedding", "head"))
    expected = closed_form.on_mesh(job, [
        ("step", "all_reduce", axes, width * sums[what]) for what, axes, width in (
            ("tp", ("tp",), 4 * over_tp), ("dp", ("cp", "dp"), 4), ("edp", ("edp",), 4),
            ("counts", ("tp", "cp", "dp"), job.element))])
    found = collections.Counter()
    for phase, op, axes, size in program.blocks["step.0"]:
        axes = ("dp",) if axes == ("edp",) and is_plain else axes
        found[phase, op, axes] += size * (over_tp or axes != ("tp",))
    yield from compare_lists("step", list(expected), [(*of, size) for of, size in (+found).items()],
                             ordered=False)


def is_open(job):
    """Whether the closed form says of such jobs what Foretrace doesn't yet:
    biases of routers and of latent attention's output; which of a layer's
    parameters ZeRO 3 gathers twice."""
    grouped, experts = job.grouped, job.experts
    has_biases = (job.qkv_bias or grouped and (grouped.bias or grouped.output_bias)
                  or experts and experts.linear_bias)
    return (job.bias and (job.latent or experts and experts.linear_bias is None)
            or job.zero == 3 and has_biases)


def keeps_otherwise(job):
    """As is_open, of what is kept: attention's result before an all-to-all; what nothing determines
    of kernels of variants."""
    is_unknown = isinstance(job.mixer, Kimi) or job.grouped and job.grouped.kind == "gqa" and (
        job.kv_heads < job.tp or job.grouped.shared or job.grouped.norm not in ("none", "head"))
    is_unknown = is_unknown or job.experts and (job.bias or job.experts.zero)
    return (job.cp_comm == "a2a" or is_unknown) and job.recompute != "full"


def closed_job(rng):
    job = random_job(rng)
    own = rng.random()
    if own < .15:
        job = with_own_attention(job, rng)
    elif own < .4:
        job = with_grouped_attention(job, rng)
    elif own < .7:
        job = with_mixer(job, rng)
    elif job.latent:
        job = dataclasses.replace(job, latent=dataclasses.replace(job.latent, gate=rng.random() < .5))
    if rng.random() < .3 and not (job.grouped and job.grouped.kind != "gqa"):
        job = dataclasses.replace(job, placement=rng.choice(("post", "sandwich", "after_sum")))
    if rng.random() < .1:
        job = dataclasses.replace(job, norm="layernorm_no_bias")
    if rng.random() < .3 and job.placement != "after_sum":
        job = with_branch(job, rng)
    if rng.random() < .3:
        job = with_more_experts(job, rng)
    return closed_job(rng) if is_open(job) else job


def expected_chunk(job, stage, number):
    blocks = closed_form.chunk(job, stage, number)
    held = [(p.elements if job.zero < 3 or not p.trained else
             closed_form.share(p.elements, job.size(closed_form.sharers(p))), p)
            for p in closed_form.chunk_parameters(job, stage, number)]
    expected = {
        "parameters": sum(elements for elements, _ in held),
        # The bias that balances load and counts of tokens are in fp32 (moe/router.py).
        "weights": sum(elements * (8 if not p.trained else 4 if p.fp32 else job.element)
                       for elements, p in held),
        "sent": 0 if "head" in blocks else closed_form.boundary(job),
    }
    if not keeps_otherwise(job):
        expected["kept"] = sum(closed_form.kept(closed_form.block_of(job, b)) for b in blocks)
    return expected


def compare_plan(job, plan):
    for row in plan["chunks"]:
        for stage in tool.each(row["stages"]):
            for number in tool.each(row["chunks"]):
                for key, want in expected_chunk(job, stage, number).items():
                    if row[key] != want:
                        yield (f"stage {stage} chunk {number}: {key} "
                               f"expected {want}, got {row[key]}")


def compare_published(job, params):
    """One rank alone has all parameters, with a table of words that is not padded."""
    alone = dataclasses.replace(job, tp=1, sp=False, cp=1, pp=1, ep=1, etp=1, vocab_multiple=1)
    for row in params["blocks"]:
        block = row["block"]
        whole = sum(p.elements for p in closed_form.block_of(alone, block).parameters if not p.tied)
        if row["published"] != whole:
            yield f"{block}: {row['published']} parameters, expected {whole}"


def check(case):
    job = closed_job(case.draw)
    program = Program(tool.ir(case.write(text_of(job))))
    found = [*compare_messages(job, program),
             *compare_plan(job, tool.document("plan", case.job)),
             *compare_published(job, tool.document("params", case.job))]
    assert not found, "\n".join(found)


if __name__ == "__main__":
    tool.cases(check)
