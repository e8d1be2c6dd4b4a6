#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# Prints the leaf calls of models of each family, and their parameters, which must
# be those of the model.
"""usage: families.py FORETRACE"""

import json
import re
import subprocess
import sys
import tempfile

MODELS = ["llama3-8b", "llama3.2-1b", "qwen2-7b", "qwen3-8b", "gpt3-125m",
          "mixtral-8x7b"]


def run(foretrace, path, backend):
    """What a backend writes."""
    return subprocess.run(
        [foretrace, "compile", path, f"--emit={backend}", "-o", "-", "--quiet"],
        check=True, stdout=subprocess.PIPE, text=True).stdout


def main():
    foretrace = sys.argv[1]
    for model in MODELS:
        with tempfile.NamedTemporaryFile("w", suffix=".fore") as file:
            file.write(f'''import "models/{model}.fore"
train {{ sequence = 128  micro_batch = 1 }}
parallel {{ world = 2  pp = 2  ga = 4  partition = module_count }}
emit optimus {{ format = json }}
''')
            file.flush()
            plan = json.loads(run(foretrace, file.name, "optimus"))
            params = subprocess.run(
                [foretrace, "params", file.name, "--exact"],
                check=True, stdout=subprocess.PIPE, text=True).stdout
        total = int(re.match(r"parameters: (\d+)", params).group(1))
        assert plan["params_total"] == total, (model, plan["params_total"], total)
        print(f"{model} {plan['class']} {plan['modcnt']} calls, "
              f"{total} parameters")


if __name__ == "__main__":
    main()
