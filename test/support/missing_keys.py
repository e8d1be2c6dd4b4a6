# SPDX-License-Identifier: Apache-2.0
"""usage: missing_keys.py SOURCE_ROOT JOB...

Takes each key in turn out of the IR text of jobs and expects the verifier to name
it: out of complete programs every key that was filled in, and every stated one
of a layer or that ir/model/Spec.def does not call optional; out of programs with no facts
every key that all programs must have. The jobs together must have all of them."""

import concurrent.futures
import pathlib
import re
import sys

import tool

ROW = re.compile(r'^([A-Z]+)_FIELD\(\w+, \w+, "(\w+)",\s*(\w+),', re.M)
SECTION = re.compile(r"^ +(\w+) (?:\S+ )?\{$")
KEY = re.compile(r"^ +(\w+) = .*?( default| derived)?$")


def needs_of(root):
    """Which programs must have each key, by its path."""
    text = (root / "ir/model/Spec.def").read_text(encoding="utf-8")
    return {f"{section.lower()}.{key}": needed for section, key, needed in ROW.findall(text)}


def fields_of(lines):
    """Yields the line number and path of each key, and whether it was filled in."""
    stack = []
    for number, line in enumerate(lines):
        if line == "spec {":
            stack = ["spec"]
        elif not stack:
            continue
        elif match := SECTION.match(line):
            stack.append(match[1])
        elif line.strip() == "}":
            stack.pop()
        elif match := KEY.match(line):
            if stack[-1] in ("times", "emit") or stack[-2:] == ["cluster", "device"]:
                continue
            yield number, f"{stack[-1]}.{match[1]}", match[2] is not None


def complaint(lines, number, path):
    """What is wrong with the verdict on a program without one line."""
    text = "\n".join(lines[:number] + lines[number + 1:])
    run = tool.attempt("opt", "-", input=text)
    # Jobs set some keys of the network in the block.
    places = [path, path.replace("ffn.", "block.")]
    if run.returncode == 1 and any(f"lacks `{p}` [verify-key]" in run.stderr for p in places):
        return None
    return f"without `{path}`, {lines[0]}: {run.returncode} {run.stderr}"


def trials_of(job, needs, seen):
    """Yields a program and what to take out of it, once for each key."""
    text = tool.ir(job, "--level=spec")
    # Definitions name keys, too.
    lines = [line for line in text.splitlines() if not line.startswith("let ")]
    bare = [lines[0].replace("(complete)", "()"), *lines[1:]]
    for number, path, is_filled in fields_of(lines):
        needed = needs.get(path, "Optional")
        is_of_layer = path.partition(".")[0] in ("attention", "ffn")
        if path not in seen and (is_filled or is_of_layer or needed != "Optional"):
            seen.add(path)
            yield lines, number, path
            if needed == "Always":
                yield bare, number, path


needs, seen = needs_of(pathlib.Path(sys.argv[1])), set()
trials = [t for job in sys.argv[2:] for t in trials_of(job, needs, seen)]
with concurrent.futures.ThreadPoolExecutor() as pool:
    found = list(filter(None, pool.map(lambda t: complaint(*t), trials)))
found += [f"no job has `{path}`" for path, needed in needs.items()
          if needed != "Optional" and path not in seen]
tool.report(found, f"{len(trials)} programs, {len(found)} findings")
