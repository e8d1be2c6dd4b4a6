# SPDX-License-Identifier: Apache-2.0
"""Prints the leaf calls of models of each family, and their parameters, which must
be those of the model."""

import json

import tool

MODELS = ["llama3-8b", "llama3.2-1b", "qwen2-7b", "qwen3-8b", "gpt3-125m",
          "mixtral-8x7b"]
JOB = """import "models/{}.fore"
train {{ sequence = 128  micro_batch = 1 }}
parallel {{ world = 2  pp = 2  ga = 4  partition = module_count }}
emit optimus {{ format = json }}
"""

for model in MODELS:
    job = JOB.format(model)
    plan = json.loads(tool.run("compile", "-", "-o", "-", "--quiet", input=job))
    total = tool.document("params", "-", input=job)["published"]
    assert plan["params_total"] == total, (model, plan["params_total"], total)
    print(f"{model} {plan['class']} {plan['modcnt']} calls, {total} parameters")
