#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: window.py JOB

Compares the job with the same job whose attention has a window of 128 tokens."""

import csv
import subprocess
import sys


def tool(*arguments):
    """What the tool prints."""
    return subprocess.check_output(["foretrace", *arguments], text=True)


def forward(*arguments):
    """Forward FLOPs of a layer."""
    rows = csv.reader(tool("flops", *arguments, "--format=csv").splitlines())
    return next(int(row[-1]) for row in rows if row[1:3] == ["layer", "forward_flops"])


def main():
    job = sys.argv[1]
    with_window = ("-D", "model.attention.window=128")
    if all(tool(what, job, *with_window) == tool(what, job)
           for what in ("params", "memory", "volume")):
        print("parameters, memory and messages alike")
    print("forward FLOPs of a layer:", forward(job) - forward(job, *with_window), "less")


if __name__ == "__main__":
    main()
