#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# Imports the configurations of library_configs.json, which are named after models of the
# library, and prints the parameters and the active ones of each; fails if the model of the
# library, without its vision tower, has others, or if a key is not understood.
"""usage: library_models.py"""

import csv
import json
import pathlib
import subprocess
import sys

CONFIGS = pathlib.Path(__file__).parent / "library_configs.json"
LOST = ("import-unknown-key", "import-not-modelled", "import-differs", "import-other-type")


def figures(job):
    """Parameters and active parameters of the model of a job, but for a vision tower."""
    text = subprocess.run(["foretrace", "params", job, "--format=csv"], check=True,
                          stdout=subprocess.PIPE, text=True).stdout
    of = {(row["table"], row["row"], row["figure"]): int(row["value"])
          for row in csv.DictReader(text.splitlines())}
    tower = of.get(("parts", "vision tower", "published"), 0)
    return of["", "", "published"] - tower, of["", "", "activated"] - tower


def check(title, config):
    """Returns whether a configuration has the parameters of the model called title."""
    pathlib.Path("config.json").write_text(json.dumps(config, indent=1), encoding="utf-8")
    pathlib.Path("library.fore").write_text(f'import "models/{title}.fore"\n', encoding="utf-8")
    done = subprocess.run(["foretrace", "import", "hf", "config.json", "-o", "imported.fore"],
                          check=False, stderr=subprocess.PIPE, text=True)
    if done.returncode or any(slug in done.stderr for slug in LOST):
        print(f"{title}: {done.stderr}")
        return False
    imported, library = figures("imported.fore"), figures("library.fore")
    print(title, *imported)
    if imported != library:
        print(f"{title}: the model of the library has {library}, and its configuration {imported}")
    return imported == library


def main():
    configs = json.loads(CONFIGS.read_text(encoding="utf-8"))
    alike = [check(title, config) for title, config in configs.items()]
    return not all(alike)


if __name__ == "__main__":
    sys.exit(main())
