# SPDX-License-Identifier: Apache-2.0
"""usage: check_totals.py SEED COUNT

Sums up random jobs, stage by stage and action by action, and compares with what
`foretrace plan` says of each kind of stage."""

import collections

import tool
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
            if axes in (("ends",), ("pairs",)) or job.extent(axes) > 1:
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
    sent = sum(kind in ("send_forward", "send_backward")
               for _, kind, *_ in actions)
    if sent:
        messages[("pp",)] += sent * job.boundary()
    return sums, {axes: size for axes, size in messages.items() if size}


def check(case):
    job = unfold_ranks.random_ranks(case)
    plan = tool.document("plan", case.job)
    for kind in plan["stages"]:
        all_sums = [stage_sums(job, stage) for stage in tool.each(kind["stages"])]
        sums, messages = max(all_sums, key=lambda s: s[0]["activations"])
        assert all(others == messages for _, others in all_sums), all_sums
        said = {name: kind[name] for name in STATE + ("activations", "flops")}
        assert all(said[name] == sums[name] for name in said), (kind, said, sums)
        # Groups by their sizes alone: plan calls them by Megatron-LM's names.
        sent = sorted(row["messages"] for row in plan["messages"]
                      if row["stages"] == kind["stages"])
        assert sent == sorted(messages.values()), (kind, sent, messages)


tool.cases(check)
