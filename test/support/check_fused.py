# SPDX-License-Identifier: Apache-2.0
"""usage: check_fused.py SEED COUNT

Simulates the Chakra traces of random jobs, with and without `fuse = true`, by
ASTRA-sim's rules: a rank computes and communicates one node at a time. All
communication begins and ends at the same times, and the rank finishes at the same
time, but for the rounding of durations to microseconds."""

import chakra
import tool
import unfold_ranks
from chakra_replay import MICRO, Replay


def simulate(case, options):
    """The number of nodes, and the ends of communication by rank, then of ranks."""
    folder = case.stem + ".of/"
    path = case.write(case.text() + "cost roofline { device { peak_flops = 1e11  "
                      "memory_bandwidth = 1e11 } }\nemit chakra { %s }\n" % options, ".of.fore")
    tool.run("compile", path, "--quiet", "-o", folder)
    groups, traces = chakra.read_set(folder)
    replay = Replay(traces, groups, in_order=True)
    assert replay.ends(), "some wait for ever"
    messages = [[rank.ends[node.id] for node in nodes if node.kind != "compute"]
                for rank, nodes in zip(replay.ranks, traces)]
    return sum(map(len, traces)), [*messages, [max(rank.ends.values())
                                               for rank in replay.ranks]]


def check(case):
    unfold_ranks.random_ranks(case)
    (nodes, ends), (fewer, fused) = simulate(case, ""), simulate(case, "fuse = true")
    assert fewer < nodes, f"{fewer} of {nodes} nodes"
    for a, b in zip(ends, fused, strict=True):
        assert len(a) == len(b) and all(
            abs(x - y) <= MICRO / 2 for x, y in zip(a, b)), f"{a}, not {b}"


tool.cases(check)
