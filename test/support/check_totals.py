#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: check_totals.py FORETRACE SEED COUNT

Sums up random jobs, stage by stage and action by action, and compares with what
`foretrace plan` says of each kind of stage."""

import collections
import json
import subprocess

import each_job
import unfold_ranks

STATE = ("parameters", "weights", "gradients", "optimizer")


def most_saved(actions, saved):
    """The most bytes saved at any time; a micro-batch saves saved[chunk]."""
    now = most = 0
    for _, kind, _, chunk, _, _ in actions:
        now += saved[chunk] * {"forward_step": 1, "backward_step": -1,
                               "backward_weight": -1}.get(kind, 0)
        most = max(most, now)
    return most


def stage_sums(job, stage):
    actions = list(job.schedule.unfold(stage))
    chunks, step = job.chunks[stage], job.steps[stage]
    sums, messages = collections.Counter(), collections.Counter()
    sums["activations"] = most_saved(
        actions, [sum(job.totals[block]["kept"] for block in blocks)
                  for blocks in chunks])

    def add(block, times):
        for _, op, axes, size in job.blocks[block]:
            if axes not in (("ends",), ("pairs",)):
                ranks = 1
                for axis in axes:
                    ranks *= job.mesh.get(axis, 1)
                if ranks == 1:
                    continue
            messages[axes] += size * times

    for index, blocks in enumerate(chunks):
        runs = sum(kind == "forward_step" and chunk == index
                   for _, kind, _, chunk, _, _ in actions)
        for block in blocks:
            for name in STATE:
                sums[name] += job.totals[block][name]
            sums["flops"] += job.totals[block]["flops"] * runs
            add(block, runs)
    add(step, 1)
    output = job.signatures["embedding"][1][0]
    boundary = job.bytes(job.values["embedding"][output])
    sent = sum(kind in ("send_forward", "send_backward")
               for _, kind, *_ in actions)
    if sent:
        messages[("pp",)] += sent * boundary
    return sums, {axes: size for axes, size in messages.items() if size}


def one(foretrace, folder, seed):
    _, path, text, ir = unfold_ranks.random_ranks(foretrace, folder, seed)
    job = unfold_ranks.Job(ir)
    plan = json.loads(subprocess.run(
        [foretrace, "plan", path + ".fore", "--format=json", "--quiet"],
        capture_output=True, text=True, check=True).stdout)
    for kind in plan["stages"]:
        first, last = kind["stages"]
        all_sums = [stage_sums(job, stage) for stage in range(first, last + 1)]
        sums, messages = max(all_sums, key=lambda s: s[0]["activations"])
        if any(others != messages for _, others in all_sums):
            return f"seed {seed}: stages {first}-{last} send {all_sums}\n{text}"
        said = {name: kind[name] for name in STATE + ("activations", "flops")}
        if any(said[name] != sums[name] for name in said):
            return f"seed {seed}: stages {first}-{last}: {said}, not {sums}\n{text}"
        # Groups by their sizes alone: plan calls them by Megatron-LM's names.
        sent = sorted(row["messages"] for row in plan["messages"]
                      if row["stages"] == kind["stages"])
        if sent != sorted(messages.values()):
            return (f"seed {seed}: stages {first}-{last}: {sent}, not {messages}"
                    f"\n{text}")
    return None


if __name__ == "__main__":
    each_job.main(one)
