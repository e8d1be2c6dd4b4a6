# SPDX-License-Identifier: Apache-2.0
"""usage: zoo.py TEST_FILE

Checks parameters of models of the library against published ones, of which the test file has
a line each. A prediction module is counted by the model whose name ends in `-mtp`."""

import pathlib
import re
import sys

import tool

LINE = re.compile(r"^([\w.-]+) (\d+) (\d+|-) (\d+|-) (\d+|-)$", re.M)


def counted(name):
    """Parameters by table, row and figure."""
    return tool.figures("params", "-", input=f'import "models/{name}.fore"\n')


def figures(name, has_branch, has_tower):
    """Parameters of the main model, the module and the tower, and active ones."""
    of = counted(name)
    tower = of.get(("parts", "vision tower", "published"), 0) if has_tower else 0
    total = of["", "", "published"]
    mtp = counted(f"{name}-mtp")["", "", "published"] if has_branch else 0
    main = counted(f"{name}-text")["", "", "published"] if tower and has_branch else (
        total - tower)
    return main, mtp and mtp - main, tower, of["", "", "activated"] - tower


lines = LINE.findall(pathlib.Path(sys.argv[1]).read_text(encoding="utf-8"))
problems = []
for name, *published in lines:
    printed = figures(name, published[1] != "-", published[2] != "-")
    wrong = [(was, now) for was, now in zip(published, printed) if was not in ("-", str(now))]
    problems += [f"{name}: {wrong}"] if wrong else []
tool.report(problems, f"{len(lines) - len(problems)} models alike")
