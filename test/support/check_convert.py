# SPDX-License-Identifier: Apache-2.0
"""usage: check_convert.py FORETRACE SEED COUNT

Tables of random jobs, converted to Chakra traces, have the collectives of the
jobs' own IR, but for broadcasts.
"""
import collections
import json
import os
import random
import re
import subprocess

import chakra
import each_job
import unfold_ranks

# What a table has no column for; `emit simai` says so.
LEFT_OUT = re.compile(r"no column for broadcast, \d")


def expected(job, rank):
    """(kind, members, bytes) of collectives, and how many there are."""
    out = collections.Counter()
    for call in job.program(rank):
        for members, what, axes in call:
            if what[0] != "broadcast" and len(members) > 1:
                out[what[0], tuple(sorted(members)), what[1]] += 1
    return out


def found(stem, rank, world):
    with open(stem + ".groups.json") as file:
        groups = json.load(file)
    out = collections.Counter()
    for node in chakra.read("%s.%d.et" % (stem, rank))[1]:
        if node.kind == "collective":
            has = node.attributes
            members = groups.get(has["pg_name"], range(world))
            name = chakra.COLLECTIVES[has["comm_type"]]
            size = has["comm_size"]
            if name == "all_gather":
                size *= len(members)
            out[name, tuple(sorted(members)), size] += 1
    return out


def one(foretrace, folder, seed):
    """A disagreement or None"""
    draw = random.Random(seed)
    path = os.path.join(folder, seed)
    while True:
        text, ir = unfold_ranks.compile_some(foretrace, path + ".fore", draw)
        job = unfold_ranks.Job(ir)
        if job.ranks == 1 or job.schedule.p > 1:
            continue
        with open(path + ".fore", "a") as file:
            file.write("cost roofline { device { peak_flops = 1e12"
                       "  memory_bandwidth = 1e12 } }\n")
        run = subprocess.run(
            [foretrace, "compile", path + ".fore", "--emit=simai", "--quiet",
             "-o", path + ".txt"], capture_output=True, text=True)
        if run.returncode == 0 and all(
                LEFT_OUT.search(line) for line in run.stderr.splitlines()
                if "[simai-inexpressible]" in line):
            break
    run = subprocess.run([foretrace, "convert", path + ".txt", "--quiet",
                          "-o", path], capture_output=True, text=True)
    if run.returncode != 0:
        return "seed %s: %s\n%s" % (seed, run.stderr, text)
    valid = subprocess.run([foretrace, "validate", path], capture_output=True,
                           text=True)
    if valid.returncode != 0 or "warning" in valid.stdout:
        return "seed %s: %s\n%s" % (seed, valid.stdout, text)
    stem = os.path.join(path, seed)
    for rank in range(job.ranks):
        want, has = expected(job, rank), found(stem, rank, job.ranks)
        if want != has:
            return "seed %s: rank %d: %s, not %s\n%s" % (
                seed, rank, has - want, want - has, text)
    return None


if __name__ == "__main__":
    each_job.main(one)
