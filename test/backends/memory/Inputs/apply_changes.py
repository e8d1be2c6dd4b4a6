# SPDX-License-Identifier: Apache-2.0
#
# Compiles a job with each change that `foretrace memory` proposes, by -D, and
# holds the peak against the one that the proposal has. A list of modules needs
# each of them.
"""usage: apply_changes.py FORETRACE JOB ROOM..."""

import json
import re
import subprocess
import sys


def run(foretrace, *arguments):
    return subprocess.run([foretrace, *arguments], check=True, text=True,
                          capture_output=True).stdout


def paths(foretrace):
    """The keys of `train` and `parallel`, by their names."""
    keys = [line.split()[0] for line in run(foretrace, "list", "keys").splitlines()]
    return {key.split(".")[1]: key for key in keys
            if key.split(".")[0] in ("train", "parallel")}


def options(change, known):
    """`tp = 2, zero = 1` as options."""
    pairs = [part.split(" = ") for part in change.split(", ")]
    return [f"-D{known.get(key, 'parallel.' + key)}={value}" for key, value in pairs]


def shorter(change):
    """The change without one of the modules that it lists, for each of them."""
    found = re.search(r'recompute_modules = "([^"]*)"', change)
    modules = found.group(1).split() if found else []
    if len(modules) > 1:
        for module in modules:
            rest = " ".join(m for m in modules if m != module)
            yield change.replace(found.group(1), rest)


def main():
    foretrace, job, *rooms = sys.argv[1:]
    known = paths(foretrace)

    def memory(*arguments):
        return json.loads(run(foretrace, "memory", job, "--format=json", "--quiet",
                              *arguments))

    for room in rooms:
        rows = memory(f"--memory={room}")["changes"][1:]
        assert rows, f"no change for {room}"
        for row in rows:
            applied = memory(f"--memory={room}", *options(row["change"], known))
            assert applied["peak"] == row["peak"], (row, applied["peak"])
            assert applied["fits"] is True, row
            for less in shorter(row["change"]):
                assert memory(f"--memory={room}",
                              *options(less, known))["fits"] is False, less
            print(f"{room}: {row['change']}")


main()
