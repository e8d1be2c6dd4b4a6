# SPDX-License-Identifier: Apache-2.0
"""usage: any_order.py FORETRACE SPEC.ftir

Runs the passes of a job in every order that their facts allow: all make the
same program. Prints how many orders there were.
"""
import itertools
import subprocess
import sys

FIRST = ("elaborate", "differentiate")
PASSES = ("shard", "recompute,analyze", "schedule", "stages", "sync", "cost")


def main():
    foretrace, spec = sys.argv[1:]
    programs = {}
    for order in itertools.permutations(PASSES):
        run = subprocess.run(
            [foretrace, "opt", "--passes=" + ",".join(FIRST + order), spec],
            capture_output=True, text=True)
        if run.returncode == 0:
            programs.setdefault(run.stdout, []).append(order)
        elif "[pass-requires-fact]" not in run.stderr:
            print(order, run.stderr)
    print("%d orders, %d programs" % (
        sum(map(len, programs.values())), len(programs)))


main()
