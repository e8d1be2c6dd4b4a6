#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# Checks each file of the shipped library: it is a job's model by itself, its
# name is that of its model, the numbers in its head and in docs/models.md are
# what the tool counts, alone as within a job, and a test derives them.
"""usage: library.py SOURCE_ROOT"""

import pathlib
import re
import subprocess
import sys
import tempfile

JOB = """import "models/{}"
train {{ sequence = 128  micro_batch = 1 }}
parallel {{ world = 1 }}
emit params {{ file = "{{model}}.txt" }}
"""


def print_alone(path):
    """What the tool counts of the file itself, without a job around it."""
    return subprocess.run(
        ["foretrace", "compile", str(path), "--emit=params", "--stdout"],
        check=False, stderr=subprocess.STDOUT, stdout=subprocess.PIPE,
        text=True).stdout


def problems(path, derived, page, folder):
    """What is wrong with one file."""
    text = path.read_text(encoding="utf-8")
    if not text.startswith("// SPDX-License-Identifier: Apache-2.0\n"):
        yield "no SPDX line"
    if not re.search(rf"^{re.escape(path.stem)} \d", derived, re.M):
        yield "no test in test/models derives its parameters"
    job = folder / "job.fore"
    job.write_text(JOB.format(path.name), encoding="utf-8")
    process = subprocess.run(
        ["foretrace", "compile", str(job), "-o", f"{folder}/"], check=False,
        stderr=subprocess.STDOUT, stdout=subprocess.PIPE, text=True)
    output = folder / (re.sub(r"\W", "_", path.stem) + ".txt")
    if not output.exists():
        yield f"makes no {output.name}:\n{process.stdout}"
        return
    counted = output.read_text(encoding="utf-8")
    if print_alone(path) != counted:
        yield "by itself, without `train` and `parallel`, has other counts"
    total, activated = (
        f"{int(re.search(rf'^{what}: (.*)', counted, re.M).group(1)):,}"
        for what in ("parameters", "active parameters"))
    head = f"// {total} parameters"
    if activated != total:
        head += f", {activated} of them active"
    if head + ".\n" not in text:
        yield f"lacks the line `{head}.`"
    row = f"| [{path.stem}](../lang/models/{path.name}) | {total} | "
    row += f"{activated} |" if activated != total else "|"
    if row not in page:
        yield f"docs/models.md lacks the row `{row}`"


def main():
    root = pathlib.Path(sys.argv[1])
    derived = "".join(test.read_text(encoding="utf-8")
                      for test in sorted((root / "test/models").glob("*.test")))
    page = (root / "docs/models.md").read_text(encoding="utf-8")
    failed = False
    for path in sorted((root / "lang/models").glob("*.fore")):
        with tempfile.TemporaryDirectory() as folder:
            for problem in problems(path, derived, page,
                                    pathlib.Path(folder)):
                failed = True
                print(f"{path.relative_to(root)}: {problem}")
    return failed


if __name__ == "__main__":
    sys.exit(main())
