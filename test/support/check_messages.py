# SPDX-License-Identifier: Apache-2.0
"""usage: check_messages.py SEED COUNT

GOAL and SimGrid's traces of random jobs come to their ends, and send as many bytes as
the closed forms say of the collectives in the IR: of S bytes over n ranks, each sends
(n - 1) / n S, in an all-reduce twice that. What stages send is as in Chakra's traces.
"""
import fractions
import os

import chakra
import goal
import replay
import tool
import unfold_ranks
from check_chakra import expected

CHOICES = {"all_gather": ("ring", "halving_doubling"),
           "reduce_scatter": ("ring", "halving_doubling"),
           "all_reduce": ("ring", "halving_doubling"),
           "all_to_all": ("direct", "pairwise")}


def bytes_of(job, traces):
    """What all ranks send together."""
    total = fractions.Fraction(0)
    for rank, nodes in enumerate(traces):
        for call in expected(job, rank):
            if call[0] in CHOICES:
                name, members, size = call
                total += fractions.Fraction(
                    (2 if name == "all_reduce" else 1)
                    * (len(members) - 1) * size, len(members))
        total += sum(node.attributes["comm_size"] for node in nodes if node.kind == "send")
    return total


def check(case):
    job, draw = unfold_ranks.random_ranks(case), case.draw
    options = "".join(
        "%s = %s  " % (name, draw.choice(words))
        for name, words in CHOICES.items() if draw.random() < .5)
    if draw.random() < .3:
        options += "chunk = %d" % draw.choice((1 << 14, 100000))
    case.append("cost roofline { device { peak_flops = 1e12"
                "  memory_bandwidth = 1e12 } }\nemit chakra { }\n"
                "emit goal { %s }\nemit simgrid { %s }\n" % (options, options))
    done = tool.attempt("compile", case.job, "--quiet", "-o", case.stem + "/")
    if "[algorithm-group]" in done.stderr:
        return
    assert done.returncode == 0, done.stderr
    stem = os.path.join(case.stem, os.path.basename(case.stem))
    want = bytes_of(job, chakra.read_set(case.stem)[1])
    valid = tool.attempt("validate", stem + ".goal")
    said = valid.stdout + valid.stderr
    assert valid.returncode == 0 and "warning" not in said, said
    ranks = goal.read(stem + ".goal")
    problem = goal.Run(ranks, gap=0.02, latency=500,
                       is_eager=draw.random() < .5).problem()
    assert not problem, f"GOAL: {problem}"
    assert goal.sent(ranks) == want, (goal.sent(ranks), want)
    traces = replay.Run(stem + ".list")
    assert traces.ends()
    assert traces.sent() == want, (traces.sent(), want)


tool.cases(check)
