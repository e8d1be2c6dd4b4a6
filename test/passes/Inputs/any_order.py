# SPDX-License-Identifier: Apache-2.0
"""usage: any_order.py SPEC.ftir

Runs the passes of a job in every order that their facts allow: all make the
same program. Prints how many orders there were.
"""
import collections
import sys

import tool

FIRST = ("elaborate", "differentiate", "types")
PASSES = ("shard", "recompute,analyze", "schedule", "stages", "sync", "cost")


def programs(spec, begun=()):
    """What each order makes that goes on so. One that lacks a fact does so,
    whatever follows."""
    for after in (p for p in PASSES if p not in begun):
        order = (*begun, after)
        run = tool.attempt("opt", "--passes=" + ",".join(FIRST + order), spec)
        if run.returncode != 0:
            if "[pass-requires-fact]" not in run.stderr:
                print(order, run.stderr)
        elif len(order) == len(PASSES):
            yield run.stdout
        else:
            yield from programs(spec, order)


made = collections.Counter(programs(*sys.argv[1:]))
print("%d orders, %d programs" % (made.total(), len(made)))
