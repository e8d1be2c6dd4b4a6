# SPDX-License-Identifier: Apache-2.0
"""usage: snippets.py SOURCE_ROOT FOLDER

Compiles what each snippet of VS Code inserts, with every choice that it offers; sections that
it leaves out are added.
"""

import json
import pathlib
import re
import subprocess
import sys

# A stop with its text, where `\\}` is a brace, or with choices.
STOP = re.compile(r"\$(?:0|\{\d+:((?:\\\}|[^}])*)\}|\{\d+\|([^|]*)\|\})")

# What a snippet that is only a part of a job is completed with.
OF_SNIPPETS = {
    "model": 'import "models/llama3-8b.fore"\n',
    "parallel": "parallel { world = 64   tp = 4   sequence_parallel = true }\n",
}


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


def main():
    root, folder = map(pathlib.Path, sys.argv[1:3])
    sys.path.insert(0, str(root / "test/support"))
    from snippets import COMPLETION, completed
    COMPLETION.update(OF_SNIPPETS)
    snippets = json.loads((root / "tools/editors/vscode/snippets/fore.json").read_text("utf-8"))
    count = failed = 0
    job = folder / "job.fore"
    for name, snippet in snippets.items():
        for text in texts("\n".join(snippet["body"])):
            if name == "Sweep":
                text = COMPLETION["parallel"] + text
            if "model " not in text and "models/" not in text:
                text = COMPLETION["model"] + text
            job.write_text(completed(text), encoding="utf-8")
            command = {"Sweep": ["sweep"], "Emit": ["compile", "-o", "out/"]}.get(name, ["plan"])
            ran = subprocess.run(["foretrace", *command, job.name], cwd=folder,
                                 capture_output=True, text=True, check=False)
            count += 1
            if ran.returncode:
                print(f"{name}: exit status {ran.returncode}\n{ran.stderr}{text}")
                failed += 1
    print(f"{len(snippets)} snippets, {count} texts, {failed} wrong")


main()
