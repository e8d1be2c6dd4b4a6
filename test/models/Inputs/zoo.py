#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# Checks parameters of models of the library against published ones, of which the test file has
# a line each. A prediction module is counted by the model whose name ends in `-mtp`.
"""usage: zoo.py TEST_FILE"""

import csv
import pathlib
import re
import subprocess
import sys
import tempfile

LINE = re.compile(r"^([\w.-]+) (\d+) (\d+|-) (\d+|-) (\d+|-)$", re.M)


def counted(name, folder):
    """Parameters by table, row and figure."""
    job = pathlib.Path(folder, "job.fore")
    job.write_text(f'import "models/{name}.fore"\n', encoding="utf-8")
    text = subprocess.run(["foretrace", "params", str(job), "--format=csv"], check=True,
                          stdout=subprocess.PIPE, text=True).stdout
    return {(row["table"], row["row"], row["figure"]): int(row["value"])
            for row in csv.DictReader(text.splitlines())}


def figures(name, has_branch, has_tower, folder):
    """Parameters of the main model, the module and the tower, and active ones."""
    of = counted(name, folder)
    tower = of.get(("parts", "vision tower", "published"), 0) if has_tower else 0
    total = of["", "", "published"]
    mtp = counted(f"{name}-mtp", folder)["", "", "published"] if has_branch else 0
    main = counted(f"{name}-text", folder)["", "", "published"] if tower and has_branch else (
        total - tower)
    return main, mtp and mtp - main, tower, of["", "", "activated"] - tower


def main():
    lines = LINE.findall(pathlib.Path(sys.argv[1]).read_text(encoding="utf-8"))
    alike = 0
    with tempfile.TemporaryDirectory() as folder:
        for name, *published in lines:
            printed = figures(name, published[1] != "-", published[2] != "-", folder)
            wrong = [(was, now) for was, now in zip(published, printed)
                     if was not in ("-", str(now))]
            alike += not wrong
            if wrong:
                print(f"{name}: {wrong}")
    print(f"{alike} models alike")
    return alike != len(lines)


if __name__ == "__main__":
    sys.exit(main())
