#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# Follows docs/add-a-*.md in a copy of the sources: each block goes where the
# line above it says; the table and the new sources must compile.
"""usage: guides.py SOURCE_ROOT BUILD_DIR"""

import json
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

STEP = re.compile(
    r"^(?:Create|In) `(?P<file>[^`]+)`(?:, after the (?:row of `(?P<row>[^`]+)`"
    r"|line `(?P<line>[^`]+)`), add)?:\n\n```\w+\n(?P<body>.*?)^```$",
    re.M | re.S)
TABLES = {"pass": "passes/PassManager.cpp", "backend": "backends/Backends.cpp",
          "schedule": "passes/BuildSchedule.cpp"}


def take(step, path):
    """Makes a file, or adds to one what is not there yet."""
    anchor = step["line"] or step["row"] and f'"{step["row"]}",'
    path.parent.mkdir(parents=True, exist_ok=True)
    text = path.read_text("utf-8") if anchor else ""
    if anchor and text.count(anchor) != 1:
        sys.exit(f"{step['file']}: not one {anchor}")
    if step["body"] not in text:
        # Further lines of a row are indented.
        end = re.compile(r"\n(?=\S|\n)" if step["row"] else r"\n").search(
            text, text.index(anchor)).end() if anchor else 0
        path.write_text(text[:end] + step["body"] + text[end:], "utf-8")


def main():
    root, build = (pathlib.Path(path).absolute() for path in sys.argv[1:3])
    rules = json.loads(
        subprocess.check_output(["ninja", "-C", build, "-t", "compdb"]))
    for name, table in TABLES.items():
        guide = root / f"docs/add-a-{name}.md"
        steps = list(STEP.finditer(guide.read_text("utf-8")))
        # What a file of that folder is compiled with.
        target = f"/foretrace_{table.partition('/')[0]}.dir/"
        command = next(rule["command"].partition(" -MD ")[0] for rule in rules
                       if target in rule["output"]
                       and " -c " in rule["command"])
        with tempfile.TemporaryDirectory() as copy:
            for folder in "lang", "ir", "analysis", "passes", "backends":
                shutil.copytree(root / folder, f"{copy}/{folder}")
            for step in steps:
                take(step, pathlib.Path(copy, step["file"]))
            files = {table, *(step["file"] for step in steps)}
            sources = sorted(file for file in files if file.endswith(".cpp"))
            subprocess.run([*shlex.split(command), "-fsyntax-only", "-iquote.",
                            *sources], cwd=copy, check=True)
        print(f"{guide.name}: {len(steps)} steps")


if __name__ == "__main__":
    main()
