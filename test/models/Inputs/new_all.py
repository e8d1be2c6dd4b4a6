#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# `foretrace new` of every model of the library on some clusters.
"""usage: new_all.py FORETRACE [CLUSTER:WORLD ...]"""

import subprocess
import sys

SETTINGS = sys.argv[2:] or [":64", "h100:256", "gb300-nvl72:512"]


def run(words, text=None):
    """Returns the process that ran the program."""
    return subprocess.run([sys.argv[1], *words], input=text, text=True,
                          capture_output=True, check=False)


def main():
    models = [line.split()[0] for line in run(["list", "models"]).stdout.splitlines()]
    wrong = fitting = 0
    for model in models:
        for setting in SETTINGS:
            cluster, world = setting.split(":")
            words = ["new", f"--model={model}", f"--world={world}"]
            made = run(words + ([f"--cluster={cluster}"] if cluster else []))
            if made.returncode == 1 and cluster and "use --world=" in made.stderr:
                continue  # a large model on too few devices
            compiled = run(["compile", "-", "--emit=ir", "--level=spec", "--stdout"],
                           made.stdout) if made.returncode == 0 else made
            styled = run(["fmt", "-"], made.stdout).stdout
            if compiled.returncode or "warning:" in compiled.stderr or styled != made.stdout:
                wrong += 1
                print(f"{model} on {setting}: {made.stderr}{compiled.stderr}", flush=True)
            fitting += 1
    print(f"{len(models)} models, {fitting} jobs, {wrong} wrong")
    return 1 if wrong or not fitting else 0


if __name__ == "__main__":
    sys.exit(main())
