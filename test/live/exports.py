#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints the jobs of a table of generate.py with the arguments that Foretrace exports.

  exports.py FORETRACE < JOBS > EXPORTED

Each job is imported and written by `export megatron`. What a run on a CPU needs is added.
judge.py compares such a run with the plan of the original arguments, which are in the
column `imported`. Standard error has jobs that cannot be exported, or whose arguments have
another communication volume than the original ones.
"""

import csv
import json
import pathlib
import shlex
import sys
import tempfile

import draw
import judge

# Needs a kernel for GPUs.
LEFT_OUT = {"--moe-grouped-gemm"}


def imported(foretrace, job, arguments, folder):
    """The job of some arguments, and its volume by stage."""
    written = judge.write_job(foretrace, {**job, "arguments": arguments}, int(job["world"]),
                              folder)
    volume = judge.run(foretrace, "volume", written, "--format=json", "--quiet")
    return written, json.loads(volume)["stages"]


def exported(foretrace, job, folder):
    """Arguments of a job after import and export."""
    written, volume = imported(foretrace, job, job["arguments"], folder)
    text = judge.run(foretrace, "export", "megatron", written).replace("\\\n", "")
    words = shlex.split(text, comments=True)
    script = next(at for at, word in enumerate(words) if word.endswith(".py"))
    arguments = [word for word in words[script + 1:] if word not in LEFT_OUT]
    arguments += draw.ALWAYS
    if "--fp16" in arguments:
        arguments += ["--initial-loss-scale", "64"]
    arguments = " ".join(arguments)
    if imported(foretrace, job, arguments, folder)[1] != volume:
        raise RuntimeError("another volume after export")
    return arguments


table = csv.DictReader(sys.stdin, delimiter="\t")
writer = csv.DictWriter(sys.stdout, [*table.fieldnames, "imported"], delimiter="\t",
                        lineterminator="\n")
writer.writeheader()
done = 0
for job in table:
    try:
        with tempfile.TemporaryDirectory() as folder:
            arguments = exported(sys.argv[1], job, pathlib.Path(folder))
        writer.writerow({**job, "arguments": arguments, "imported": job["arguments"]})
        done += 1
    except RuntimeError as why:
        print(f"{job['version']}/{job['layout']}: {why}", file=sys.stderr)
print(f"{done} jobs exported", file=sys.stderr)
