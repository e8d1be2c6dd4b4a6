# SPDX-License-Identifier: Apache-2.0
"""Compares the order of forward and backward steps with pipeline schedules.

A case is a file with a line for each rank and a cell for each step: the stage
of the model (chunk x ranks + rank), F or B, and the micro-batch.
"""
import os
import re
import subprocess
import sys
import tempfile

# What can be said today: folder by release of Megatron-LM core, and kind.
RELEASES = {"megatron-main": None, "megatron-core_v0.7.0": "0.7"}
CASE = re.compile(r"(?:1F1B|interleaved)(?:-n(\d+))?_r(\d+)_v(\d+)_m(\d+)\.csv$")
STEP = re.compile(r"rank:\d+:(forward|backward)_step\((?:.*?chunk_id=(\d+))?")


def find_folders(root):
    """Folders with cases that can be compared; says how many can't."""
    names = [(folder, name) for folder, _, files in sorted(os.walk(root))
             for name in files
             if name.endswith(".csv") and name != "index.csv"]
    folders = [os.path.join(root, release) for release in RELEASES]
    covered = sum(folder in folders and CASE.match(name) is not None
                  for folder, name in names)
    if covered < len(names):
        print("pipeline-schedules: %d files of other schedules: not covered"
              % (len(names) - covered), file=sys.stderr)
    return [folder for folder in folders if os.path.isdir(folder)]


def to_fore(group, ranks, chunks, micro_batches, release):
    """A job with a layer in each chunk."""
    keys = "".join(" %s = %s" % (key, value) for key, value in (
        ("micro_batch_group", group),
        ("megatron", release and '"%s"' % release)) if value)
    return ("model m { vocab = 128  hidden = 8  attention mha { heads = 1 }"
            "  layers = %d }\n"
            "train { sequence = 8  micro_batch = 1  global_batch = %d }\n"
            "parallel { world = %d  pp = %d  vpp = %d %s }\n"
            "emit megatron {}\n"
            % (ranks * chunks, micro_batches, ranks, ranks, chunks, keys))


def steps_of(path, rank, ranks):
    """The cells of a rank, from its trace: a chunk's n-th step is of
    micro-batch n."""
    done, cells = {}, []
    with open(path) as file:
        for row in file:
            match = STEP.match(row)
            if match:
                step = (int(match[2] or 0), match[1][0].upper())
                done[step] = done.get(step, -1) + 1
                cells.append("%d%s%d" % (step[0] * ranks + rank, step[1],
                                         done[step]))
    return cells


def compare(foretrace, path, release):
    """None if all ranks of a case have their order."""
    group, ranks, chunks, micro_batches = CASE.match(
        os.path.basename(path)).groups()
    with tempfile.TemporaryDirectory() as temp:
        job = os.path.join(temp, "job.fore")
        with open(job, "w") as file:
            file.write(to_fore(group, int(ranks), int(chunks),
                               int(micro_batches), release))
        run = subprocess.run(
            [foretrace, "compile", job, "-o", temp + "/", "--quiet"],
            capture_output=True)
        if run.returncode:
            return run.stderr.decode(errors="replace")
        with open(path) as file:
            expected = [line.split(",") for line in file.read().splitlines()]
        for rank, cells in enumerate(expected):
            got = steps_of(os.path.join(temp, "rank%d.txt" % rank), rank,
                           int(ranks))
            if got != cells:
                return "rank %d\n  expected: %s\n  got:      %s" % (
                    rank, ",".join(cells), ",".join(got))
    return None


def run_folder(foretrace, folder):
    """(case, problem or None) of each case."""
    release = RELEASES[os.path.basename(folder)]
    paths = [os.path.join(folder, name) for name in sorted(os.listdir(folder))
             if CASE.match(name)]
    return [(path, compare(foretrace, path, release)) for path in paths]
