#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# Changes one value of a job and holds traces of the unchanged one against it.
# What the change does to the skeleton of a rank, `check` must report for its
# trace, in the first row that differs. Prints caught/total, and how often a hint
# names the value that was changed.
"""usage: reconfigure.py FORETRACE JOB [TRACE_FOLDER]"""

import argparse
import collections
import json
import pathlib
import re
import subprocess
import sys
import tempfile

from mutation_kinds import ROW

CHANGES = [
    "model.vocab=32000", "model.hidden=2048", "model.norm=layernorm",
    "model.norm=rmsnorm", "model.positions=learned", "model.positions=rope",
    "model.tied=true", "model.tied=false", "model.bias=true",
    "model.qkv_bias=true", "model.layers=16*moe", "model.layers=64*moe",
    "model.vocab_multiple=4096", "train.sequence=512", "train.sequence=2Ki",
    "train.micro_batch=2", "train.global_batch=32", "train.global_batch=128",
    "train.precision=fp16", "train.precision=fp32", "train.recompute=full",
    "train.grad_precision=bf16", "parallel.pp=2", "parallel.pp=1",
    "parallel.pp=8", "parallel.vpp=2", "parallel.ep=1", "parallel.ep=4",
    "parallel.zero=1", "parallel.schedule=gpipe",
    "parallel.rank_order=tp_cp_ep_pp_dp", "parallel.cp=2",
]


def skeletons(foretrace, job, folder, change=None):
    """The rows of each rank, or None if the job is not legal."""
    run = subprocess.run(
        [foretrace, "compile", job, "--emit=megatron", "-o", f"{folder}/",
         "--quiet"] + (["-D", change] if change else []),
        check=False, stderr=subprocess.PIPE)
    if run.returncode:
        return None
    return {int(re.search(r"(\d+)\.txt$", path.name).group(1)):
            re.sub(",chunk_id=[0-9]+", "",  # which no trace has
                   path.read_text(encoding="utf-8")).splitlines()
            for path in folder.glob("*.txt")}


def make_run(foretrace, job, folder):
    """A run as planned: all routers send as much to every rank."""
    skeletons(foretrace, job, folder)
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
    parser = argparse.ArgumentParser(usage=__doc__.removeprefix("usage: "))
    parser.add_argument("foretrace")
    parser.add_argument("job")
    parser.add_argument("traces", nargs="?", type=pathlib.Path)
    options = parser.parse_args()
    foretrace, job = options.foretrace, options.job
    caught = total = hinted = visible_changes = 0
    with tempfile.TemporaryDirectory() as name:
        root = pathlib.Path(name)
        planned = skeletons(foretrace, job, root / "planned")
        traces = options.traces or root / "run"
        if not options.traces:
            traces.mkdir()
            make_run(foretrace, job, traces)
        ranks = {int(re.match(r"rank:(\d+):", path.read_text(
            encoding="utf-8")).group(1)): path for path in traces.glob("*.txt")}
        for index, change in enumerate(CHANGES):
            changed = skeletons(foretrace, job, root / str(index), change)
            if changed is None or changed == planned:
                continue
            visible_changes += 1
            rows = {rank: first_difference(planned[rank], changed[rank])
                    for rank in sorted(ranks)}
            rows = {rank: row for rank, row in rows.items() if row}
            run = subprocess.run(
                [foretrace, "check", job, "-D", change, "--limit=100000",
                 "--format=json",
                 *(f"--trace={ranks[rank]}" for rank in rows)],
                check=False, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                text=True)
            divergences = [json.loads(line) for line in run.stdout.splitlines()]
            said = by_rank(divergences)
            for rank, number in rows.items():
                total += 1
                if run.returncode == 4 and is_reported(
                        said[rank], number, planned[rank], changed[rank]):
                    caught += 1
                else:
                    print(f"{change}: row {number} of rank {rank}: {said[rank]}")
            named = any(found.get("slug") == "hint" and
                        found["arguments"][0] == change.split("=")[0]
                        for found in divergences)
            hinted += named
            if not named:
                print(f"{change}: no hint")
    print(f"{caught}/{total} caught, {hinted}/{visible_changes} changes named")
    return caught != total or total == 0


if __name__ == "__main__":
    sys.exit(main())
