# SPDX-License-Identifier: Apache-2.0
"""usage: same_rows.py FILE.csv|FILE.json|FILE.md...

Rows are the same in each form that they are printed in. Reads each file as a program that knows the form would, and compares them.
Prints how many rows there are, and their columns.
"""

import csv
import json
import pathlib
import re
import sys


def text_of(value):
    """A value of JSON as the other forms have it."""
    if value is None:
        return ""
    if isinstance(value, list):
        return " ".join(map(str, value))
    return value if isinstance(value, str) else json.dumps(value)


def read_csv(path):
    with path.open(encoding="utf-8", newline="") as file:
        names, *rows = csv.reader(file, strict=True)
    return names, rows


def read_json(path):
    """An object a line."""
    objects = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    return list(objects[0]), [[text_of(value) for value in row.values()]
                              for row in objects]


def read_md(path):
    lines = [[cell.strip().replace("\\|", "|") for cell in
              re.split(r"(?<!\\)\|", line)[1:-1]]
             for line in path.read_text("utf-8").splitlines()]
    assert all(re.fullmatch("---|--:", cell) for cell in lines[1])
    return [name.replace(" ", "_") for name in lines[0]], lines[2:]


found = []
for path in map(pathlib.Path, sys.argv[1:]):
    names, rows = globals()["read_" + path.suffix[1:]](path)
    assert all(len(row) == len(names) for row in rows), path
    found.append((names, rows))
    if found[-1] != found[0]:
        sys.exit(f"{path} has not the rows of {sys.argv[1]}")
names, rows = found[0]
print(len(rows), "rows of", *names)
