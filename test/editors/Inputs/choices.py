# SPDX-License-Identifier: Apache-2.0
"""usage: choices.py SOURCE_ROOT FOLDER

Compiles what each snippet of VS Code inserts, with every choice that it offers; sections that
it leaves out are added.
"""

import json
import pathlib
import re
import sys

import tool
from snippets import COMPLETION, completed

# A stop with its text, where `\\}` is a brace, or with choices.
STOP = re.compile(r"\$(?:0|\{\d+:((?:\\\}|[^}])*)\}|\{\d+\|([^|]*)\|\})")

# What a snippet that is only a part of a job is completed with.
OF_SNIPPETS = {
    "model": 'import "models/llama3-8b.fore"\n',
    "parallel": "parallel { world = 64   tp = 4   sequence_parallel = true }\n",
}
COMPLETION.update(OF_SNIPPETS)


def texts(body):
    """The text with the first choice of each stop, and one text for each other choice."""
    def text(stop, choice):
        def fill(match):
            if match.group(2):
                options = match.group(2).split(",")
                return options[choice if match.start() == stop else 0]
            return (match.group(1) or "").replace("\\}", "}")
        return STOP.sub(fill, body)

    yield text(-1, 0)
    for match in STOP.finditer(body):
        for choice in range(1, len((match.group(2) or "").split(","))):
            yield text(match.start(), choice)


root, folder = map(pathlib.Path, sys.argv[1:3])
SNIPPETS = json.loads((root / "tools/editors/vscode/snippets/fore.json").read_text("utf-8"))
problems, count = [], 0
for name, snippet in SNIPPETS.items():
    for text in texts("\n".join(snippet["body"])):
        if name == "Sweep":
            text = OF_SNIPPETS["parallel"] + text
        if "model " not in text and "models/" not in text:
            text = OF_SNIPPETS["model"] + text
        (folder / "job.fore").write_text(completed(text), encoding="utf-8")
        command = {"Sweep": ["sweep"], "Emit": ["compile", "-o", "out/"]}.get(name, ["plan"])
        ran = tool.attempt(*command, "job.fore", cwd=folder)
        count += 1
        if ran.returncode:
            problems.append(f"{name}: exit status {ran.returncode}\n{ran.stderr}{text}")
tool.report(problems, f"{len(SNIPPETS)} snippets, {count} texts, {len(problems)} wrong")
