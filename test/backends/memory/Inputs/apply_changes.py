# SPDX-License-Identifier: Apache-2.0
"""usage: apply_changes.py JOB ROOM...

Compiles a job with each change that `foretrace memory` proposes, by -D, and
holds the peak against the one that the proposal has. A list of modules needs
each of them."""

import re
import sys

import tool

JOB = sys.argv[1]
# The keys of `train` and `parallel`, by their names.
KNOWN = {path.split(".")[1]: path for path in (row["key"] for row in tool.rows("list", "keys"))
         if path.split(".")[0] in ("train", "parallel")}


def options(change):
    """`tp = 2, zero = 1` as options."""
    pairs = [part.split(" = ") for part in change.split(", ")]
    return tool.defined({KNOWN.get(key, "parallel." + key): value for key, value in pairs})


def shorter(change):
    """The change without one of the modules that it lists, for each of them."""
    found = re.search(r'recompute_modules = "([^"]*)"', change)
    modules = found.group(1).split() if found else []
    if len(modules) > 1:
        for module in modules:
            rest = " ".join(m for m in modules if m != module)
            yield change.replace(found.group(1), rest)


for room in sys.argv[2:]:
    def memory(change=""):
        return tool.document("memory", JOB, f"--memory={room}", *(options(change) if change else ()))

    rows = memory()["changes"][1:]
    assert rows, f"no change for {room}"
    for row in rows:
        applied = memory(row["change"])
        assert applied["peak"] == row["peak"], (row, applied["peak"])
        assert applied["fits"] is True, row
        for less in shorter(row["change"]):
            assert memory(less)["fits"] is False, less
        print(f"{room}: {row['change']}")
