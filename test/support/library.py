# SPDX-License-Identifier: Apache-2.0
"""usage: library.py SOURCE_ROOT

Checks the shipped library: each model of a page has a line before it with its
title and its source, is a job's model under its title and alone, and counts
the same within a job, which compiles to the end."""

import pathlib
import re
import sys

import tool

MODEL = re.compile(r"^model (\w+)", re.M)
TITLE = re.compile(r"^// ([\w.-]+): (.+)\nmodel (\w+)", re.M)

JOB = """import "models/{}.fore"
train {{ sequence = {}  micro_batch = 1 }}
parallel {{ world = 1 }}
emit params {{ exact = true }}
emit plan {{ }}
"""


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


def job_problems(listed, folder):
    """What is wrong with a job of each model that is listed."""
    job = folder / "job.fore"
    for title, row in listed.items():
        sequence = 384 if title.startswith("whisper") else 1024
        job.write_text(JOB.format(title, sequence), encoding="utf-8")
        done = tool.attempt("compile", job, "-o", f"{folder}/out/")
        if done.returncode or "warning" in done.stderr:
            yield f"{title}:\n{done.stderr}"
            continue
        counted = (folder / "out/job.params.txt").read_text("utf-8")
        if not counted.startswith(f"parameters: {row['parameters']}\n"):
            yield (f"{title}: {row['parameters']} parameters are listed, in a job:\n"
                   f"{counted.splitlines()[0]}")


root, titles = pathlib.Path(sys.argv[1]), []
found = [f"{path.relative_to(root)}: {problem}"
         for path in sorted((root / "lang/models").glob("*.fore"))
         for problem in problems(path, titles)]
models = {row["model"]: row for row in tool.rows("list", "models")}
if sorted(models) != sorted(titles) or len(set(titles)) != len(titles):
    found.append(f"other models are listed: {sorted(set(models) ^ set(titles))}")
with tool.scratch() as scratch:
    found += job_problems(models, scratch)
tool.report(found, f"{len(models)} models")
