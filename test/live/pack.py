#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Packs the logs of jobs that ran (run.sh) as judge.py reads them.

  pack.py OUT LOGS

Writes LOGS/VERSION/LAYOUT.csv.gz, with the calls of all ranks, and LOGS/layouts.tsv; and
for judge_memory.py LOGS/memory.csv, with the bytes of all ranks of Megatron-LM.
"""

import csv
import gzip
import pathlib
import sys

import launch


def read_job(folder):
    with open(folder / "job.tsv", encoding="utf-8") as file:
        return next(csv.DictReader(file, delimiter="\t"))


def pack_job(folder, job, logs):
    """Number of calls."""
    path = logs / job["version"] / (job["layout"] + ".csv.gz")
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = []
    for rank in launch.ranks_of(job):
        with open(folder / f"rank{rank}.csv", encoding="utf-8") as file:
            header, *calls = file.readlines()
        lines += calls if lines else [header, *calls]
    # The same logs make the same file.
    with open(path, "wb") as file, gzip.GzipFile("", "wb", 9, file, mtime=0) as packed:
        packed.write("".join(lines).encode())
    return len(lines) - 1


def memory_of(folder, job):
    """Bytes of each rank and chunk."""
    for path in sorted(folder.glob("memory*.csv")):
        with open(path, encoding="utf-8") as file:
            for row in csv.DictReader(file):
                yield {"version": job["version"], "layout": job["layout"], **row}


def write_table(path, rows, delimiter):
    with open(path, "w", encoding="utf-8") as file:
        writer = csv.DictWriter(file, rows[0], delimiter=delimiter, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


out, logs = map(pathlib.Path, sys.argv[1:])
rows, memory = [], []
for done in sorted(out.glob("*/*/done")):
    job = read_job(done.parent)
    rows.append({**job, "rows": pack_job(done.parent, job, logs)})
    memory += memory_of(done.parent, job)
write_table(logs / "layouts.tsv", rows, "\t")
if memory:
    write_table(logs / "memory.csv", memory, ",")
