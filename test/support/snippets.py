# SPDX-License-Identifier: Apache-2.0
"""usage: snippets.py SOURCE_ROOT (FILE.md | FOLDER)...

Runs what the documentation shows. docs/contributing.md says how a fenced
block is marked."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

FENCE = re.compile(r"^(`{3,})\s*(\w+)?[ \t]*(.*?)\n(.*?)^\1\s*$", re.M | re.S)

# What a block that shows only a part of a job is completed with.
COMPLETION = {
    "model": 'import "models/gpt3-175b.fore"\n',
    "train": "train { sequence = 2048  micro_batch = 1  global_batch = 16 }\n",
    "parallel": "parallel { world = 16  tp = 8 }\n",
}


class Snippet:
    """A fenced block: its language, the words after it, text and place."""

    def __init__(self, path, text, match):
        self.language, self.marks, self.body = match.group(2, 3, 4)
        line = text.count("\n", 0, match.start()) + 1
        self.place = f"{path}:{line}"

    def mark(self, name):
        """The value of `name=value` after the language, or None."""
        match = re.search(rf"\b{name}=(\S+)", self.marks)
        return match and match.group(1)


def run(command, folder):
    """Exit status and everything printed."""
    process = subprocess.run(command, cwd=folder, check=False, text=True, shell=True,
                             stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT)
    return process.returncode, process.stdout


def completed(body):
    """The block with the sections it leaves out."""
    has = {name for name in COMPLETION
           if re.search(rf"^\s*{name}\b", body, re.M)}
    if re.search(r'^\s*import "(?!.*\bas\b)', body, re.M):
        has.add("model")
    front = "" if "model" in has else COMPLETION["model"]
    return front + body + "".join(
        COMPLETION[name] for name in ("train", "parallel") if name not in has)


def check_fore(snippet, folder):
    """Compiles; a block marked error=SLUG must give that diagnostic."""
    (folder / "snippet.fore").write_text(completed(snippet.body), encoding="utf-8")
    status, output = run("foretrace compile --emit=ir --level=spec -o /dev/null --quiet "
                         "-Werror=unused-name snippet.fore", folder)
    if wanted := snippet.mark("error"):
        if status != 1 or f"[{wanted}]" not in output:
            return f"expected [{wanted}], got status {status}:\n{output}"
        return None
    return output if status else None


def check_ftir(snippet, folder):
    """The IR parses, verifies and prints."""
    (folder / "snippet.ftir").write_text(snippet.body, encoding="utf-8")
    status, output = run("foretrace opt snippet.ftir", folder)
    return output if status else None


def matches(expected, output):
    """Whether the output is as shown; a line `...` stands for any lines."""
    pattern = "".join(
        "(?:.*\n)*" if line.strip() == "..." else re.escape(line) + "\n"
        for line in expected)
    return re.fullmatch(pattern, output) is not None


def check_console(snippet, folder):
    """Runs the lines after `$ ` and compares what follows them, if any."""
    commands = []
    for line in snippet.body.splitlines():
        if line.startswith("$ "):
            commands.append((line[2:], []))
        elif commands and commands[-1][0].endswith("\\"):
            command, _ = commands.pop()
            commands.append((command[:-1] + line, []))
        elif commands:
            commands[-1][1].append(line)
    for command, expected in commands:
        status, output = run(command, folder)
        if expected and not matches(expected, output):
            return f"$ {command}\n{output}"
        if not expected and status:
            return f"$ {command}\nexit status {status}\n{output}"
    return None


CHECKS = {"fore": check_fore, "ftir": check_ftir, "console": check_console}


def check_file(root, path):
    """Yields (place, problem or None) for each block that is run."""
    text = path.read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for shown in ("docs", "lang", "test"):
            os.symlink(root / shown, folder / shown)
        for match in FENCE.finditer(text):
            snippet = Snippet(path.relative_to(root), text, match)
            if snippet.mark("file"):
                (folder / snippet.mark("file")).write_text(
                    snippet.body, encoding="utf-8")
            elif snippet.mark("needs") and not shutil.which(snippet.mark("needs")):
                print(f"{snippet.place}: not run without {snippet.mark('needs')}")
            elif snippet.language in CHECKS:
                yield snippet.place, CHECKS[snippet.language](snippet, folder)


def pages(names):
    """The pages named, and those in the folders named."""
    for name in names:
        path = pathlib.Path(name).resolve()
        yield from sorted(path.rglob("*.md")) if path.is_dir() else [path]


def main():
    root, ran, problems = pathlib.Path(sys.argv[1]).resolve(), 0, []
    for path in pages(sys.argv[2:]):
        for place, problem in check_file(root, path):
            ran += 1
            problems += [f"{place}: {problem}"] if problem is not None else []
    print(*problems, f"{ran} blocks, {len(problems)} failed", sep="\n")
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main())
