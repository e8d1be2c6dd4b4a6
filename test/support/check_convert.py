# SPDX-License-Identifier: Apache-2.0
"""usage: check_convert.py SEED COUNT

Tables of random jobs, converted to Chakra traces, have the collectives of the
jobs' own IR, but for broadcasts.
"""
import collections
import re

import chakra
import tool
import unfold_ranks
from check_chakra import collective

# What a table has no column for; `emit simai` says so.
LEFT_OUT = re.compile(r"no column for broadcast, \d")


def expected(job, rank):
    """(kind, members, bytes) of collectives, and how many there are."""
    return collections.Counter(
        (what[0], tuple(sorted(members)), what[1]) for call in job.program(rank)
        for members, what, _ in call if what[0] != "broadcast" and len(members) > 1)


def has_table(case):
    """Whether the job, with costs, has a table of all its collectives."""
    case.append("cost roofline { device { peak_flops = 1e12"
                "  memory_bandwidth = 1e12 } }\n")
    done = tool.attempt("compile", case.job, "--emit=simai", "--quiet", "-o",
                        case.stem + ".txt")
    return done.returncode == 0 and all(
        LEFT_OUT.search(line) for line in done.stderr.splitlines()
        if "[simai-inexpressible]" in line)


def check(case):
    while True:
        job = unfold_ranks.random_ranks(case)
        if job.schedule.p == 1 and has_table(case):
            break
    tool.run("convert", case.stem + ".txt", "--quiet", "-o", case.stem)
    said = tool.run("validate", case.stem)
    assert "warning" not in said, said
    groups, ranks = chakra.read_set(case.stem)
    assert len(ranks) == job.ranks
    for rank, nodes in enumerate(ranks):
        has = collections.Counter(collective(job.ranks, groups, node)
                                  for node in nodes if node.kind == "collective")
        want = expected(job, rank)
        assert has == want, (rank, has - want, want - has)


tool.cases(check)
