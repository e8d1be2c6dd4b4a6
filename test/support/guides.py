# SPDX-License-Identifier: Apache-2.0
#
# Follows docs/add-a-*.md in one copy of the sources, each block where the line above it
# says, and builds the copy. CI takes this build for its tests with sanitizers.
"""usage: guides.py SOURCE_ROOT COPY PRESET TARGET [CMAKE_ARGUMENT...]

Prints the number of steps of each page, and the tests that the pages add, which
test/added.txt of the copy lists. A copy that is there is brought up to date, and keeps
its folder `build`."""

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


def copy_sources(root, copy):
    """Replaces everything in the copy but what was built there."""
    copy.mkdir(parents=True, exist_ok=True)
    for path in copy.iterdir():
        if path.is_dir() and path.name != "build":
            shutil.rmtree(path)
    shutil.copytree(root, copy, symlinks=True, dirs_exist_ok=True,
                    ignore=shutil.ignore_patterns("build", ".git"))


def follow(root, copy):
    """Takes the steps of each page, and returns the tests that they add."""
    tests = []
    for guide in sorted(root.glob("docs/add-a-*.md")):
        steps = list(STEP.finditer(guide.read_text("utf-8")))
        for step in steps:
            path = copy / step["file"]
            before = path.stat().st_mtime_ns if path.exists() else 0
            take(step, path)
            # As new as what it was made of, so that only what changed is built again.
            os.utime(path, ns=(max(before, guide.stat().st_mtime_ns),) * 2)
        tests += [step["file"] for step in steps if step["file"].startswith("test/")]
        print(f"{guide.name}: {len(steps)} steps")
    print(*tests, sep="\n", flush=True)
    return tests


def build(copy, preset, target, arguments):
    """Builds the copy, and writes the tables of its pages."""
    done = subprocess.run(["cmake", "--preset", preset, *arguments], cwd=copy, check=False,
                          text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode:
        sys.exit(done.stdout)
    folder = copy / "build" / preset
    path = f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}"
    for command in (["ninja", "-C", folder, target],
                    [sys.executable, "test/support/keys.py", ".", "--write"]):
        subprocess.run(command, cwd=copy, check=True, stdout=sys.stderr,
                       env=dict(os.environ, PATH=path))


def main():
    root, copy = (pathlib.Path(path).absolute() for path in sys.argv[1:3])
    preset, target, *arguments = sys.argv[3:]
    copy_sources(root, copy)
    tests = follow(root, copy)
    (copy / "test/added.txt").write_text("\n".join(tests) + "\n", "utf-8")
    build(copy, preset, target, arguments)


if __name__ == "__main__":
    main()
