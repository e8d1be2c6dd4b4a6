# SPDX-License-Identifier: Apache-2.0
"""usage: check_costs.py SEED COUNT

What `foretrace flops` and `foretrace params` say of random jobs is what closed
forms say: those of a token know nothing of how the job is spread."""

import re

import tool
from check_closed_form import is_open
from closed_form import share, sharers, stage_parameters
from job import text_of
from kept import Kept
from random_jobs import random_job, random_modules
from unfold_ranks import KINDS


def projections(job):
    """FLOPs of a token in the projections of attention, and in those of them
    that no rank shares with others: 2 for a multiply-add."""
    h = job.hidden
    if m := job.latent:
        query = job.heads * (m.nope + m.rope)
        down = 2 * h * (m.q_lora + m.kv_lora + m.rope)
        up = 2 * ((m.q_lora or h) * query + m.kv_lora * job.heads *
                  (m.nope + m.v) + job.heads * m.v * h)
        return down + up, down
    return 2 * h * job.head_dim * 2 * (job.heads + job.kv_heads), 0


def scores(job):
    """Half of those of a token with all others, and half of their products with
    the values."""
    m = job.latent
    channels = m.nope + m.rope + m.v if m else 2 * job.head_dim
    return job.sequence * job.heads * channels


def network(job, width):
    return 2 * job.hidden * width * (job.fc1_parts + 1)


def layer(job, kind):
    """(all but scores and router, scores, router) of a token."""
    attention, _ = projections(job)
    if kind == "dense":
        return attention + network(job, job.ffn), scores(job), 0
    e = job.experts
    gate = e.shared > 0 and e.gate
    return (attention + network(job, e.ffn) * e.topk + network(job, e.shared),
            scores(job), 2 * job.hidden * (e.count + gate))


def up_projections(job):
    m = job.latent
    return 2 * (m.q_lora or job.hidden) * job.heads * (m.nope + m.rope) + (
        2 * m.kv_lora * job.heads * (m.nope + m.v))


def again(job, kind, modules, core, router):
    """FLOPs of a token in what is computed again of a layer."""
    e = job.experts
    flops = {"core_attn": core, "layernorm": 0, "moe_act": 0}
    if job.latent:
        flops["mla_up_proj"] = up_projections(job)
    if kind == "dense":
        flops["mlp"] = network(job, job.ffn)
    else:
        gate = e.shared > 0 and e.gate and router
        shared = network(job, e.shared) + 2 * job.hidden * gate
        flops["moe"] = shared + network(job, e.ffn) * e.topk + (
            2 * job.hidden * e.count * router)
        flops["shared_experts"] = shared * ("moe" not in modules)
    return sum(flops.get(m, 0) for m in modules)


def tokens(job):
    return job.sequence * job.micro_batch * job.replicas * job.ga


def expected(job, modules, full=False, router=True, embedding=False):
    """(model, recomputed, repeated or None) FLOPs of an iteration."""
    parts = [sum(of) for of in zip(*(layer(job, k) for k in job.layers))]
    core = parts[1] * (2 if full else 1)
    layers = parts[0] + core + parts[2] * router
    head = 2 * job.hidden * job.padded_vocab
    tables = 0
    if embedding:
        rows = job.sequence if job.positions == "learned" else 0
        tables = 2 * job.hidden * (job.padded_vocab + rows)
    repeated = passes = 0
    for kind, word in zip(job.layers, job.again):
        of, core_of, router_of = layer(job, kind)
        core_of *= 1 + full
        passes += 3 + (word == "full")
        if word == "full":
            repeated += of + core_of + router_of * router
        elif word == "selective":
            repeated += again(job, kind, modules, core_of, router)
    # Without sequence parallelism all ranks of tp have all tokens.
    alike = 0 if job.sp else (job.tp - 1) * projections(job)[1] * passes
    count = tokens(job)
    return (count * 3 * (layers + head + tables), count * repeated,
            None if embedding else count * alike)


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
