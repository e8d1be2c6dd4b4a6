# SPDX-License-Identifier: Apache-2.0
"""usage: reconfigure.py JOB [TRACE_FOLDER]

Changes one value of a job and holds traces of the unchanged one against it.
What the change does to the skeleton of a rank, `check` must report for its
trace, in the first row that differs. Prints caught/total, and how often a hint
names the value that was changed."""

import collections
import json
import pathlib
import re
import sys

import tool
from mutation_kinds import ROW

CHANGES = pathlib.Path(__file__).with_name("changes.txt").read_text("utf-8").split()


def skeletons(job, folder, change=None):
    """The rows of each rank, or None if the job is not legal."""
    run = tool.attempt("compile", job, "--emit=megatron", "-o", f"{folder}/", "--quiet",
                       *([f"-D{change}"] if change else []))
    if run.returncode:
        return None
    return {int(re.search(r"(\d+)\.txt$", path.name).group(1)):
            re.sub(",chunk_id=[0-9]+", "",  # which no trace has
                   path.read_text(encoding="utf-8")).splitlines()
            for path in folder.glob("*.txt")}


def make_run(job, folder):
    """A run as planned: all routers send as much to every rank."""
    skeletons(job, folder)
    for path in folder.glob("*.txt"):
        rows = path.read_text(encoding="utf-8").splitlines()
        for number, row in enumerate(rows):
            sent = re.search(r"all_to_all_single,[^']*input__shape=\[(\d+)",
                             row)
            rows[number] = row.replace("[R,",
                                       f"[{sent.group(1) if sent else 0},")
        path.write_text("\n".join(rows) + "\n", encoding="utf-8")


def first_difference(planned, changed):
    """The number of the first row that differs, from 1, or None."""
    for number, (a, b) in enumerate(zip(planned, changed), 1):
        if a != b:
            return number
    return None if len(planned) == len(changed) else min(
        len(planned), len(changed)) + 1


def name(rows, number):
    """How a message names a row, as the regular expression."""
    if number > len(rows):
        return "$^"
    _, op, _, batch = ROW.match(rows[number - 1]).groups()
    return f"`{op}` {batch}[^0-9]"


def by_rank(divergences):
    """What is said of each rank."""
    said = collections.defaultdict(list)
    for found in divergences:
        if "line" in found:
            for rank in found["ranks"]:
                said[rank].append(found)
    return said


def is_reported(divergences, number, rows, expected):
    """Whether the row is reported, or the one expected in its place."""
    names = rf"{name(rows, number)}|{name(expected, number)}"
    return any(found["line"] == number or re.search(names, found["message"])
               for found in divergences)


def main():
    job, problems, total, hinted, visible_changes = sys.argv[1], [], 0, 0, 0
    with tool.scratch() as root:
        planned = skeletons(job, root / "planned")
        traces = pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else root / "run"
        if len(sys.argv) == 2:
            traces.mkdir()
            make_run(job, traces)
        ranks = {int(re.match(r"rank:(\d+):", path.read_text(
            encoding="utf-8")).group(1)): path for path in traces.glob("*.txt")}
        for index, change in enumerate(CHANGES):
            changed = skeletons(job, root / str(index), change)
            if changed is None or changed == planned:
                continue
            visible_changes += 1
            rows = {rank: first_difference(planned[rank], changed[rank])
                    for rank in sorted(ranks)}
            rows = {rank: row for rank, row in rows.items() if row}
            run = tool.attempt("check", job, f"-D{change}", "--limit=100000", "--format=json",
                               *(f"--trace={ranks[rank]}" for rank in rows))
            divergences = [json.loads(line) for line in run.stdout.splitlines()]
            said = by_rank(divergences)
            for rank, number in rows.items():
                total += 1
                if run.returncode != 4 or not is_reported(
                        said[rank], number, planned[rank], changed[rank]):
                    problems.append(f"{change}: row {number} of rank {rank}: {said[rank]}")
            named = any(found.get("slug") == "hint" and
                        found["arguments"][0] == change.split("=")[0]
                        for found in divergences)
            hinted += named
            if not named:
                print(f"{change}: no hint")
    assert total
    tool.report(problems, f"{total - len(problems)}/{total} caught, "
                f"{hinted}/{visible_changes} changes named")


main()
