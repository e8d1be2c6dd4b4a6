# SPDX-License-Identifier: Apache-2.0
"""usage: check_costs.py SEED COUNT

What `foretrace flops` and `foretrace params` say of random jobs is what closed
forms say: those of FLOPs know nothing of how the job is spread."""

import collections
import dataclasses
import re

import tool
from check_closed_form import is_open
from closed_form import block_of, share, sharers, stage_parameters
from job import text_of
from kept import Kept
from random_jobs import random_job, random_modules
from unfold_ranks import KINDS


def tokens(job):
    return job.sequence * job.micro_batch * job.replicas * job.ga


def expected(job, modules, full=False, router=True, embedding=False):
    """(model, recomputed, repeated or None) FLOPs of an iteration, from those of a job on one rank."""
    alone = dataclasses.replace(job, tp=1, sp=False, cp=1, ep=1, etp=1, recompute="none")

    def parts(kind):
        of = collections.Counter(block_of(alone, kind).flops)
        of["core_attn"] *= 1 + full
        for name in () if router else ("router", "gate"):
            del of[name]
        return of

    def again(of):
        inside = {"moe": ("moe", "router", "shared_experts", "gate"), "shared_experts": ("shared_experts", "gate")}
        return sum(of[name] for name in set().union(*(inside.get(m, (m,)) for m in modules)))

    layers = repeated = passes = 0
    for kind, word in zip(job.layers, job.again):
        of = parts(kind)
        layers += of.total()
        repeated += {"full": of.total(), "selective": again(of), "none": 0}[word]
        passes += 3 + (word == "full")
    head = 2 * job.hidden * job.padded_vocab
    rows = job.sequence if job.positions == "learned" else 0
    tables = 2 * job.hidden * (job.padded_vocab + rows) if embedding else 0
    # Without sequence parallelism all ranks of tp have all tokens.
    m = job.latent
    down = 2 * job.hidden * (m.q_lora + m.kv_lora + m.rope) if m and not job.sp else 0
    times = job.replicas * job.ga
    return (times * layers + 3 * tokens(job) * (head + tables), times * repeated // 3,
            None if embedding else tokens(job) * (job.tp - 1) * down * passes)


def check_flops(path, job, modules, **convention):
    options = {"full": "--attention=full", "router": "--router=false",
               "embedding": "--embedding"}
    found = tool.document("flops", path, *(options[o] for o in convention))
    model, recomputed, repeated = expected(job, modules, **convention)
    assert found["model_flops"] == model, (convention, found, model)
    assert found["recomputed_flops"] == recomputed, (convention, found, recomputed)
    if repeated is not None:
        assert found["repeated_flops"] == repeated, (convention, found, repeated)
    assert found["repeated_flops"] >= 0, found
    assert found["hardware_flops"] == model + recomputed, found
    phases = ("forward_flops", "recomputed_flops", "backward_flops")
    ranks = [len(tool.each(row["stages"])) * row["ranks"] for row in found["stages"]]
    assert sum(count * row[phase] for count, row in zip(ranks, found["stages"])
               for phase in phases) == (
        model + recomputed + found["repeated_flops"]), found
    assert sum(ranks) == job.tp * job.cp * job.replicas * job.pp, found
    for phase in phases:
        assert found[phase] == job.ga * job.replicas * sum(
            row["layers"] * row[phase] for row in found["blocks"]), found
    assert abs(found["model_flops_per_token"] * tokens(job) - model) <= (
        tokens(job)), found


def check_parameters(path, job, kind):
    """Those of ranks are closed_form's, if it has all of them. With DualPipe each
    stage holds those of its opposite, too."""
    whole = tool.document("params", path)
    for table in ("blocks", "parts"):
        for name in ("published", "activated"):
            assert whole[name] == sum(
                row[name] * row.get("layers", 1)
                for row in whole[table]), whole
    found = tool.document("params", path, "--by=stage")
    assert found["published"] == whole["published"], (found, whole)
    published = stored = 0
    for row in found["stages"]:
        stages = tool.each(row["stages"])
        published += len(stages) * row["published"]
        stored += len(stages) * row["ranks"] * row["parameters"]
        for stage in () if is_open(job) or kind else stages:
            held = sum(share(p.elements, job.size(sharers(p)))
                       if job.zero == 3 and p.trained else p.elements
                       for p in stage_parameters(job, stage))
            assert row["parameters"] == held, (found, stage, held)
    copies = 2 if kind == "dualpipe" else 1
    assert published == whole["published"] * copies, (found, whole)
    assert stored == found["stored"], found


def write_job(case):
    """(job with what it does again of each layer, the modules that it recomputes,
    kind of its schedule or nothing)"""
    draw = case.draw
    job = random_job(draw)
    text = text_of(job)
    modules = random_modules(text, draw) or "core_attn"
    if modules != "core_attn":
        text = text.replace("recompute = selective", "recompute = selective  "
                            'recompute_modules = "%s"' % modules)
    kept = Kept(text, draw)
    for kind in (draw.choice(KINDS) if job.pp > 1 else "", ""):
        case.write(tool.with_keys(kept.text, "parallel", **{"schedule": kind} if kind else {}))
        spec = tool.attempt("compile", case.job, "--emit=ir", "--level=spec", "--stdout",
                            "--quiet")
        refused = spec.returncode or tool.attempt("flops", case.job).returncode
        if refused and "below the model's" in spec.stderr:
            return write_job(case)
        if not kind or not refused:
            chunks = job.pp * int(re.search(r" vpp = (\d+)", spec.stdout)[1])
            size = len(job.layers) // chunks
            job.again = [kept.recompute_of(block, at % size)
                         for at, block in enumerate(job.layers)]
            return job, modules.split(), kind


def check(case):
    job, modules, kind = write_job(case)
    check_flops(case.job, job, modules)
    check_flops(case.job, job, modules, **case.draw.choice(
        [{"full": True}, {"router": False}, {"embedding": True}]))
    check_parameters(case.job, job, kind)


tool.cases(check)
