# SPDX-License-Identifier: Apache-2.0
"""usage: model_jobs.py OUT

Writes a job for a model of the library with each set of kinds of layers."""

import pathlib
import sys

import tool

out = pathlib.Path(sys.argv[1])
rows = tool.rows("list", "models")[::-1]
for model in {row["layers"]: row["model"] for row in rows}.values():
    # Tables of positions have no more rows than that.
    sequence = {"whisper-large-v3": 384, "bart-large": 1024, "gpt2": 1024}.get(model, 2048)
    (out / f"{model}.fore").write_text(f"""import "models/{model}.fore"
train {{ sequence = {sequence}  micro_batch = 1  global_batch = 512 }}
parallel {{ world = 64  tp = 1  cp = 1  pp = 1  vpp = 1  ep = 1  zero = 0 }}
""")
