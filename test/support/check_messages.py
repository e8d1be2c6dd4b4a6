# SPDX-License-Identifier: Apache-2.0
"""usage: check_messages.py FORETRACE SEED COUNT

GOAL and SimGrid's traces of random jobs come to their ends, and send as many bytes as
the closed forms say of the collectives in the IR: of S bytes over n ranks, each sends
(n - 1) / n S, in an all-reduce twice that. What stages send is as in Chakra's traces.
"""
import fractions
import os
import subprocess

import chakra
import each_job
import goal
import replay
import unfold_ranks
from check_chakra import expected

CHOICES = {"all_gather": ("ring", "halving_doubling"),
           "reduce_scatter": ("ring", "halving_doubling"),
           "all_reduce": ("ring", "halving_doubling"),
           "all_to_all": ("direct", "pairwise")}


def bytes_of(job, traces):
    """What all ranks send together."""
    total = fractions.Fraction(0)
    for rank in range(job.ranks):
        for call in expected(job, rank):
            if call[0] in CHOICES:
                name, members, size = call
                total += fractions.Fraction(
                    (2 if name == "all_reduce" else 1)
                    * (len(members) - 1) * size, len(members))
        for node in chakra.read(traces % rank)[1]:
            if node.kind == "send":
                total += node.attributes["comm_size"]
    return total


def one(foretrace, folder, seed):
    """A disagreement or None"""
    draw, path, text, ir = unfold_ranks.random_ranks(foretrace, folder, seed)
    job = unfold_ranks.Job(ir)
    options = "".join(
        "%s = %s  " % (name, draw.choice(words))
        for name, words in CHOICES.items() if draw.random() < .5)
    if draw.random() < .3:
        options += "chunk = %d" % draw.choice((1 << 14, 100000))
    with open(path + ".fore", "a") as file:
        file.write("cost roofline { device { peak_flops = 1e12"
                   "  memory_bandwidth = 1e12 } }\nemit chakra { }\n"
                   "emit goal { %s }\nemit simgrid { %s }\n" % (
                       options, options))
    run = subprocess.run([foretrace, "compile", path + ".fore", "--quiet",
                          "-o", path + "/"], capture_output=True, text=True)
    if "[algorithm-group]" in run.stderr:
        return None
    if run.returncode != 0:
        return "seed %s: %s\n%s" % (seed, run.stderr, text)
    stem = os.path.join(path, seed)
    want = bytes_of(job, stem + ".%d.et")
    valid = subprocess.run([foretrace, "validate", stem + ".goal"],
                           capture_output=True, text=True)
    if valid.returncode != 0 or "warning" in valid.stdout + valid.stderr:
        return "seed %s: %s%s" % (seed, valid.stdout, valid.stderr)
    ranks = goal.read(stem + ".goal")
    problem = goal.Run(ranks, gap=0.02, latency=500,
                       is_eager=draw.random() < .5).problem()
    sent = goal.sent(ranks)
    if problem or sent != want:
        return "seed %s: GOAL: %s, %d bytes of %s\n%s" % (
            seed, problem, sent, want, text)
    traces = replay.Run(stem + ".list")
    if not traces.ends() or traces.sent() != want:
        return "seed %s: traces send %d bytes of %s\n%s" % (
            seed, traces.sent(), want, text)
    return None


if __name__ == "__main__":
    each_job.main(one)
