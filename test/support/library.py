#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# Checks the shipped library: each model of a page has a line before it with its
# title and its source, is a job's model under its title and alone, and counts
# the same within a job, which compiles to the end.
"""usage: library.py SOURCE_ROOT"""

import json
import pathlib
import re
import subprocess
import sys
import tempfile

MODEL = re.compile(r"^model (\w+)", re.M)
TITLE = re.compile(r"^// ([\w.-]+): (.+)\nmodel (\w+)", re.M)

JOB = """import "models/{}.fore"
train {{ sequence = {}  micro_batch = 1 }}
parallel {{ world = 1 }}
emit params {{ exact = true }}
emit plan {{ }}
"""


def run(*arguments):
    """What the tool prints, and whether it succeeded."""
    process = subprocess.run(["foretrace", *arguments], check=False, text=True,
                             stderr=subprocess.STDOUT, stdout=subprocess.PIPE)
    return process.stdout, process.returncode == 0


def problems(path, titles):
    """What is wrong with the text of one page."""
    text = path.read_text(encoding="utf-8")
    if not text.startswith("// SPDX-License-Identifier: Apache-2.0\n"):
        yield "no SPDX line"
    found = TITLE.findall(text)
    for name in set(MODEL.findall(text)) - {name for _, _, name in found}:
        yield f"`{name}` has no line with its title and source"
    for title, _, name in found:
        if re.sub(r"\W", "_", title) != name:
            yield f"`{name}` is called {title}"
        titles.append(title)
        # An import of the title would be one of the page.
        if title == path.stem and len(found) > 1:
            yield f"`{name}` is called like its page"


def main():
    root = pathlib.Path(sys.argv[1])
    failed = False
    titles = []
    for path in sorted((root / "lang/models").glob("*.fore")):
        for problem in problems(path, titles):
            failed = True
            print(f"{path.relative_to(root)}: {problem}")
    listed = {row["model"]: row for row in map(
        json.loads, run("list", "models", "--format=json")[0].splitlines())}
    if sorted(listed) != sorted(titles) or len(set(titles)) != len(titles):
        failed = True
        print("other models are listed:", sorted(set(listed) ^ set(titles)))
    with tempfile.TemporaryDirectory() as folder:
        job = pathlib.Path(folder, "job.fore")
        for title, row in listed.items():
            sequence = 384 if title.startswith("whisper") else 1024
            job.write_text(JOB.format(title, sequence), encoding="utf-8")
            printed, is_good = run("compile", str(job), "-o", f"{folder}/out/")
            if not is_good or "warning" in printed:
                failed = True
                print(f"{title}:\n{printed}")
                continue
            counted = pathlib.Path(folder, "out/job.params.txt").read_text("utf-8")
            if not counted.startswith(f"parameters: {row['parameters']}\n"):
                failed = True
                print(f"{title}: {row['parameters']} parameters are listed, in a job:\n"
                      f"{counted.splitlines()[0]}")
    return failed


if __name__ == "__main__":
    sys.exit(main())
