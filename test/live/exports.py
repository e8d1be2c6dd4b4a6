#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints the jobs of a table of generate.py with the arguments that Foretrace exports.

  exports.py FORETRACE < JOBS > EXPORTED

Each job is imported and written by `export megatron`. What a run on a CPU needs is added.
judge.py compares such a run with the plan of the original arguments, which are in the
column `imported`. Jobs that cannot be exported are printed to standard error.
"""

import csv
import pathlib
import shlex
import sys
import tempfile

import draw
import judge

# Needs a kernel for GPUs.
LEFT_OUT = {"--moe-grouped-gemm"}


def exported(foretrace, job):
    """Arguments of a job after import and export."""
    with tempfile.TemporaryDirectory() as folder:
        written = judge.write_job(foretrace, job, int(job["world"]), pathlib.Path(folder))
        text = judge.run(foretrace, "export", "megatron", written).replace("\\\n", "")
    words = shlex.split(text, comments=True)
    script = next(at for at, word in enumerate(words) if word.endswith(".py"))
    arguments = [word for word in words[script + 1:] if word not in LEFT_OUT]
    arguments += draw.ALWAYS
    if "--fp16" in arguments:
        arguments += ["--initial-loss-scale", "64"]
    return " ".join(arguments)


def main():
    table = csv.DictReader(sys.stdin, delimiter="\t")
    writer = csv.DictWriter(sys.stdout, [*table.fieldnames, "imported"], delimiter="\t",
                            lineterminator="\n")
    writer.writeheader()
    for job in table:
        try:
            writer.writerow({**job, "arguments": exported(sys.argv[1], job),
                             "imported": job["arguments"]})
        except RuntimeError as why:
            print(f"{job['version']}/{job['layout']}: {why}", file=sys.stderr)


if __name__ == "__main__":
    main()
