#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: model_jobs.py LIBRARY OUT

Writes a job for every model of the library."""

import pathlib
import sys

library, out = map(pathlib.Path, sys.argv[1:])
for model in sorted((library / "models").glob("*.fore")):
    (out / model.name).write_text(f"""import "models/{model.name}"
train {{ sequence = 4096  micro_batch = 1  global_batch = 512 }}
parallel {{ world = 64  tp = 1  cp = 1  pp = 1  vpp = 1  ep = 1  zero = 0 }}
""")
