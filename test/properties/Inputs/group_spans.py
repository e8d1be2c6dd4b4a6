# SPDX-License-Identifier: Apache-2.0
"""usage: group_spans.py SEED COUNT

Compares `foretrace groups --summary` with the groups that `foretrace groups`
lists: how many there are, which tier joins each, which of them leave a node."""

import collections

import tool
from check_volume import CLUSTER

JOB = """model m {{
  vocab = 512  hidden = 192  tied = true
  block e {{ attention mha {{ heads = 24 }} experts = 24 topk = 1
            ffn {{ intermediate = 96 }} }}
  layers = 24 * e
}}
train {{ sequence = 1152  micro_batch = 1 }}
parallel {{
  world = {world}  tp = {tp}  cp = {cp}  pp = {pp}  ep = {ep}
  sequence_parallel = {sp}
}}
""" + CLUSTER


def make(choose):
    """A random job and the sizes of its cluster."""
    tp, cp, pp, dp = (choose.choice(sizes) for sizes in (
        (1, 2, 3, 4), (1, 2, 3), (1, 2, 3, 4), (1, 2, 3, 6)))
    ranks = tp * cp * dp
    ep = choose.choice([n for n in (1, 2, 3, 4, 6)
                        if 24 % n == 0 and ranks % (n * tp) == 0])
    node = choose.choice((1, 2, 3, 4, 8))
    inner = node * choose.choice((1, 2, 3))
    world = ranks * pp
    return {"tp": tp, "cp": cp, "pp": pp, "ep": ep, "world": world,
            "sp": tool.word(tp > 1), "node": node, "inner": inner,
            "outer": inner * choose.choice((2, 3, 5)),
            "nodes": -(-world // node) + choose.choice((0, 1, 7))}


def count(groups, sizes):
    """What the summary should say of all groups that are listed."""
    found = collections.defaultdict(collections.Counter)
    for group in groups:
        ranks = group["ranks"]
        seen = found[group["group"]]
        seen["groups"] += 1
        seen["leave"] += len({rank // sizes["node"] for rank in ranks}) > 1
        tier = next((name for name, size in (
            ("a", sizes["inner"]), ("b", sizes["outer"]))
            if len({rank // size for rank in ranks}) == 1), "c")
        assert tier == group["tier"], group
        seen[tier] += 1
    return {name: (seen["groups"], seen["leave"],
                   {tier: seen[tier] for tier in "abc"})
            for name, seen in found.items()}


def check(case):
    sizes = make(case.draw)
    case.write(JOB.format(**sizes))
    told = {row["group"]: (row["groups"], row["leave_node"],
                           {of["tier"]: of["groups"] for of in row["tiers"]})
            for row in tool.rows("groups", case.job, "--summary")}
    seen = count(tool.rows("groups", case.job), sizes)
    assert told == seen, f"the summary says {told}, the groups {seen}"


tool.cases(check)
