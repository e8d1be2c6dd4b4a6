# SPDX-License-Identifier: Apache-2.0
"""Compares trace skeletons with real traces, row by row.

What only a run knows is taken out before: durations, timestamps, and the rows
that the router sent.
"""
import glob
import json
import os
import re
import subprocess
import tempfile

import megatron_job

MEASURED = re.compile(r"\b(duration|timestamp)=-?[0-9.]+")


def find_folders(root):
    """Folders below `root` that hold the traces of one job, in order."""
    found = []
    for folder, folders, files in os.walk(root):
        folders.sort()
        if "config.json" in files:
            found.append(folder)
    return found


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


def check(foretrace, job, path):
    """What `foretrace check` has against the file, or None."""
    run = subprocess.run([foretrace, "check", job, "--trace", path],
                         capture_output=True)
    return (run.stdout + run.stderr).decode() if run.returncode else None


def run_folder(foretrace, folder):
    """(file, what is wrong or None) for each trace of the folder."""
    with open(os.path.join(folder, "config.json")) as file:
        config = json.load(file)
    traces = {path: rank_of(path)
              for path in sorted(glob.glob(os.path.join(folder, "*.txt")))}
    with tempfile.TemporaryDirectory() as temp:
        try:
            job = megatron_job.write(foretrace, config, set(traces.values()), temp)
        except ValueError as error:
            return [(path, str(error)) for path in traces]
        run = subprocess.run([foretrace, "compile", job, "-o", temp + "/"],
                             capture_output=True)
        if run.returncode:
            problem = run.stderr.decode(errors="replace")
            return [(path, problem) for path in traces]
        results = []
        for path, rank in traces.items():
            skeleton = os.path.join(temp, "rank%d.txt" % rank)
            with open(skeleton) as file:
                expected = file.read().splitlines()
            results.append((path, compare(expected, path) or
                            check(foretrace, job, path)))
        return results
