# SPDX-License-Identifier: Apache-2.0
"""usage: new_all.py [CLUSTER:WORLD ...]

`foretrace new` of every model of the library on some clusters."""

import sys

import tool

SETTINGS = sys.argv[1:] or [":64", "h100:256", "gb300-nvl72:512"]

models = [row["model"] for row in tool.rows("list", "models")]
wrong, fitting = [], 0
for model in models:
    for setting in SETTINGS:
        cluster, world = setting.split(":")
        words = ["new", f"--model={model}", f"--world={world}"]
        made = tool.attempt(*words, *([f"--cluster={cluster}"] if cluster else []))
        if made.returncode == 1 and cluster and "use --world=" in made.stderr:
            continue  # a large model on too few devices
        compiled = made if made.returncode else tool.attempt(
            "compile", "-", "--emit=ir", "--level=spec", "--stdout", input=made.stdout)
        styled = tool.attempt("fmt", "-", input=made.stdout).stdout
        if compiled.returncode or "warning:" in compiled.stderr or styled != made.stdout:
            wrong.append(f"{model} on {setting}: {made.stderr}{compiled.stderr}")
        fitting += 1
assert fitting
tool.report(wrong, f"{len(models)} models, {fitting} jobs, {len(wrong)} wrong")
