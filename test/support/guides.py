# SPDX-License-Identifier: Apache-2.0
#
# Follows docs/add-a-*.md in one copy of the sources: each block goes where the line
# above it says. Then the copy is built, with the other compiler, GCC, and the tests that
# the pages add must pass there, beside those that hold tables, layers and pages together.
"""usage: guides.py SOURCE_ROOT COPY"""

import os
import pathlib
import re
import shutil
import subprocess
import sys

STEP = re.compile(
    r"^(?:Create|In) `(?P<file>[^`]+)`(?:, after the (?:row of `(?P<row>[^`]+)`"
    r"|line `(?P<line>[^`]+)`), add)?:\n\n```\w+\n(?P<body>.*?)^```$",
    re.M | re.S)
GUARDS = ["test/layering", "test/coverage", "test/docs/keys", "test/docs/links"]


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


root, copy = (pathlib.Path(path).absolute() for path in sys.argv[1:])
shutil.rmtree(copy, ignore_errors=True)
shutil.copytree(root, copy, symlinks=True,
                ignore=shutil.ignore_patterns("build", ".git"))
tests = []
for guide in sorted(root.glob("docs/add-a-*.md")):
    steps = list(STEP.finditer(guide.read_text("utf-8")))
    for step in steps:
        take(step, copy / step["file"])
    tests += [step["file"] for step in steps
              if step["file"].startswith("test/")]
    print(f"{guide.name}: {len(steps)} steps")

def run(*command):
    subprocess.run(command, cwd=copy, check=True, stdout=sys.stderr)

run("cmake", "--preset", "gcc", "-DCMAKE_CXX_FLAGS_RELEASE=-O0")
run("ninja", "-C", "build/gcc", "foretrace")
os.environ["PATH"] = f"{copy}/build/gcc/bin:{os.environ['PATH']}"
run(sys.executable, "test/support/keys.py", ".", "--write")
names = [name.removeprefix("test/") for name in tests + GUARDS]
done = subprocess.run(
    [sys.executable, "test/check.py", "build/gcc", "--quick",
     f"--filter={'|'.join(names)}"],
    cwd=copy, capture_output=True, text=True)
print(*tests, done.stdout.splitlines()[-1], sep="\n")
if done.returncode:
    sys.exit(done.stdout)
shutil.rmtree(copy)
