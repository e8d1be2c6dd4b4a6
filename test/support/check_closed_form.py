# SPDX-License-Identifier: Apache-2.0
"""usage: check_closed_form.py SEED COUNT

Compiles random jobs and compares each with its closed form: the collectives
of every block, those of every stage's step, and what each model chunk holds,
keeps and sends."""

import collections

import closed_form
import tool
from ftir import Program
from job import text_of
from random_jobs import (random_job, with_branch, with_gated_attention,
                         with_latent_experts, with_mixer)


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
        expected = closed_form.messages(job, block)
        if job.zero == 3 and block not in closed_form.LAYERS:
            got = [m for m in got if m[1] != "all_gather" or m[2] == ("tp",)]
        yield from compare_lists(
            block, expected, got,
            job.zero < 2 and not job.latent and block != "moe"
            and (block != "mtp" or job.layers[-1] != "moe"))
    for first, last, step in program.stages:
        for stage in range(first, last + 1):
            yield from compare_lists(
                f"step of stage {stage}",
                closed_form.step_messages(job, stage), program.blocks[step])


def is_open(job):
    """Whether the closed form says of such jobs what Foretrace doesn't yet:
    biases of routers, of latent attention's output and of norms of queries and
    keys; which of a layer's parameters ZeRO 3 gathers twice."""
    return (job.bias and (job.latent or job.experts)
            or job.qk_norm and job.norm == "layernorm"
            or job.zero == 3 and job.qkv_bias)


def keeps_otherwise(job):
    """As is_open, of what is kept: attention's result before an all-to-all."""
    return job.cp_comm == "a2a" and job.recompute != "full"


def closed_job(rng):
    job = random_job(rng)
    own = rng.random()
    if own < .25:
        job = with_gated_attention(job, rng)
    elif own < .45:
        job = with_mixer(job, rng)
    if rng.random() < .3:
        job = with_branch(job, rng)
    if rng.random() < .3:
        job = with_latent_experts(job, rng)
    return closed_job(rng) if is_open(job) else job


def expected_chunk(job, stage, number):
    blocks = closed_form.chunk(job, stage, number)
    held = [p for b in blocks for p in closed_form.parameters(job, b)
            if not closed_form.is_spare(job, p)]
    expected = {
        "parameters": sum(
            closed_form.share(p.elements, job.size(closed_form.sharers(p)))
            if job.zero == 3 and p.trained else p.elements for p in held),
        "sent": 0 if "head" in blocks else closed_form.boundary(job),
    }
    if not keeps_otherwise(job):
        expected["kept"] = sum(
            closed_form.kept(job, b) for b in blocks)
    return expected


def compare_plan(job, plan):
    for row in plan["chunks"]:
        for stage in range(row["stages"][0], row["stages"][1] + 1):
            for number in range(row["chunks"][0], row["chunks"][1] + 1):
                for key, want in expected_chunk(job, stage, number).items():
                    if row[key] != want:
                        yield (f"stage {stage} chunk {number}: {key} "
                               f"expected {want}, got {row[key]}")


def check(case):
    job = closed_job(case.draw)
    program = Program(tool.ir(case.write(text_of(job))))
    found = [*compare_messages(job, program),
             *compare_plan(job, tool.document("plan", case.job))]
    assert not found, "\n".join(found)


if __name__ == "__main__":
    tool.cases(check)
