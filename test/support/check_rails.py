# SPDX-License-Identifier: Apache-2.0
"""usage: check_rails.py SEED COUNT

Unfolds random jobs to the links of every rank, on a random cluster, and compares
the links that ASTRA-sim would charge to the wrong tier with what `emit astra-sim`
warns of. ASTRA-sim charges a link to the first dimension in which the
coordinates of its ends differ."""

import collections
import json
import re

import check_volume
import tool

CLUSTER = check_volume.CLUSTER.replace(
    "  tiers {{", "  device {{ peak_flops = 1e12  memory_bandwidth = 1e12 }}\n"
    "  tiers {{")
WARNING = re.compile(r"(\d+) of (\d+) links (?:of `)?(.*?)`? that leave a "
                     r"domain of `(\w+)`")


def random_cluster(draw, ranks):
    """Each domain of a tier is full of ranks, or has all of them."""
    sizes = [size for size in range(1, ranks + 1) if ranks % size == 0]
    inner = draw.choice(sizes)
    outer = draw.choice([size for size in (*sizes, 2 * ranks)
                         if size > inner and size % inner == 0])
    return {"node": inner, "inner": inner, "outer": outer,
            "nodes": max(ranks, outer) // inner}


def links_of(job):
    """Pairs of ranks, by name of the kind of group."""
    kinds = {(axes, name == "ring") for block in job.blocks.values()
             for _, name, axes, _ in block}
    links = collections.defaultdict(set)
    for rank in range(job.ranks):
        for axes, is_ring in kinds:
            line = sorted(job.members(rank, axes))
            if rank in line and 1 < len(line) < job.ranks + is_ring:
                there = line[(line.index(rank) + 1) % len(line)]
                links[check_volume.group_name(axes, job.mesh)].add((rank, there))
        for _, name, _, _, receivers in check_volume.calls(job, rank):
            if name == "send":
                links["between stages"] |= {
                    (rank, there) for there in receivers}
    return links


def expected(job, cluster):
    """(off rail, leaving) by group and tier."""
    sizes = (("a", cluster["inner"]), ("b", cluster["outer"]))
    if sum(size > 1 for size in (
            min(cluster["inner"], job.ranks),
            min(cluster["outer"], job.ranks) // cluster["inner"],
            -(-job.ranks // cluster["outer"]))) < 2:
        return {}  # one dimension
    found = {}
    for group, pairs in links_of(job).items():
        for tier, size in sizes:
            leaving = {(a, b) for a, b in pairs if a // size != b // size}
            inside = 1 if tier == "a" else cluster["inner"]
            off = {(a, b) for a, b in leaving
                   if a % inside == b % inside and a % size != b % size}
            if off:
                found[group, tier] = len(off), len(leaving)
    return found


def check(case):
    job, cluster = check_volume.on_cluster(case, random_cluster, CLUSTER)
    done = tool.attempt("compile", case.job, "--emit=astra-sim", "-o", case.stem + "/",
                        "--diagnostics=json")
    assert done.returncode == 0, done.stderr
    found = {}
    for line in done.stderr.splitlines():
        if '"astra-off-rail"' in line:
            off, leaving, *names = WARNING.match(json.loads(line)["message"]).groups()
            found[tuple(names)] = int(off), int(leaving)
    want = expected(job, cluster)
    assert found == want, (found, want)


tool.cases(check)
