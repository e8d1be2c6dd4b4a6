# SPDX-License-Identifier: Apache-2.0
"""usage: window.py JOB

Compares the job with the same job whose attention has a window of 128 tokens."""

import sys

import tool

whole, window = (sys.argv[1],), (sys.argv[1], "-Dmodel.attention.window=128")
for what in ("params", "memory", "volume"):
    assert tool.run(what, *window) == tool.run(what, *whole), what
before, after = (tool.figures("flops", *of)["blocks", "layer", "forward_flops"]
                 for of in (whole, window))
print("forward FLOPs of a layer:", before - after, "less")
