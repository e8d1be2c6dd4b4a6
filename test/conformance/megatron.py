# SPDX-License-Identifier: Apache-2.0
"""Compares trace skeletons with real traces, row by row.

What only a run knows is taken out before: durations, timestamps, and the rows
that the router sent.
"""
import glob
import json
import os
import re

import megatron_job
import tool

MARKER = "config.json"  # of a folder with the traces of one job
MEASURED = re.compile(r"\b(duration|timestamp)=-?[0-9.]+")


def rank_of(path):
    """The rank a trace file is of, as its rows say."""
    with open(path) as file:
        return int(re.match(r"rank:(\d+):", file.readline()).group(1))


def is_expected(expected, seen):
    """Whether a row is as planned; R stands for any number."""
    seen = MEASURED.sub(r"\1=None", seen)
    if seen == expected:
        return True
    return re.fullmatch(re.escape(expected).replace(r"\[R,", r"\[\d+,"),
                        seen) is not None


def compare(expected, path):
    """None if the file holds whole iterations of the expected rows."""
    with open(path) as file:
        rows = file.read().splitlines()
    if not rows or len(rows) % len(expected):
        return "%d rows, expected a multiple of %d" % (len(rows), len(expected))
    for number, row in enumerate(rows):
        planned = expected[number % len(expected)]
        if not is_expected(planned, row):
            return "line %d\n  expected: %s\n  got:      %s" % (
                number + 1, planned, row)
    return None


def check(job, path):
    """What `foretrace check` has against the file, or None."""
    run = tool.attempt("check", job, "--trace", path)
    return run.stdout + run.stderr if run.returncode else None


def run_folder(folder):
    """(file, what is wrong or None) for each trace of the folder."""
    with open(os.path.join(folder, "config.json")) as file:
        config = json.load(file)
    traces = {path: rank_of(path)
              for path in sorted(glob.glob(os.path.join(folder, "*.txt")))}
    with tool.scratch() as temp:
        try:
            job = megatron_job.write(config, set(traces.values()), temp)
            tool.run("compile", job, "-o", f"{temp}/")
        except tool.Failed as error:
            return [(path, str(error)) for path in traces]
        return [(path, compare((temp / f"rank{rank}.txt").read_text().splitlines(), path)
                 or check(job, path)) for path, rank in traces.items()]
