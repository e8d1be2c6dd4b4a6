#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# Compares `foretrace groups --summary` with the groups that `foretrace groups`
# lists: how many there are, which tier joins each, which of them leave a node.
"""usage: group_spans.py FORETRACE FOLDER"""

import collections
import json
import pathlib
import random
import subprocess
import sys

JOBS = 40
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
cluster {{
  nodes = {nodes}  devices_per_node = {node}  nic_bandwidth = 10 GB/s
  tiers {{
    a {{ devices = {inner}  bandwidth = 10 GB/s  latency = 1 us }}
    b {{ devices = {outer}  bandwidth = 10 GB/s  latency = 1 us }}
    c {{ latency = 1 us }}
  }}
}}
"""


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
            "sp": str(tp > 1).lower(), "node": node, "inner": inner,
            "outer": inner * choose.choice((2, 3, 5)),
            "nodes": -(-world // node) + choose.choice((0, 1, 7))}


def ask(tool, job, *options):
    """The objects that `foretrace groups` prints."""
    lines = subprocess.run(
        [tool, "groups", job, "--format=json", *options], check=True,
        stdout=subprocess.PIPE, text=True).stdout.splitlines()
    return [json.loads(line) for line in lines]


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


def main():
    tool, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    choose = random.Random(7)
    for number in range(JOBS):
        sizes = make(choose)
        job = folder / f"{number}.fore"
        job.write_text(JOB.format(**sizes), encoding="utf-8")
        told = {row["group"]: (row["groups"], row["leave_node"],
                            {of["tier"]: of["groups"] for of in row["tiers"]})
                for row in ask(tool, job, "--summary")}
        seen = count(ask(tool, job), sizes)
        if told != seen:
            sys.exit(f"{job}: the summary says {told}, the groups {seen}")


if __name__ == "__main__":
    main()
