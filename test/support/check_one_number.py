#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# Runs every command that prints figures on random jobs. All that print a figure print
# the same number under the same key: of the job, of a stage, of a kind of layer, of a
# group of ranks.
"""usage: check_one_number.py FORETRACE SEED COUNT"""
import collections
import json
import random
import re
import subprocess

import documents
import each_job
from check_volume import CLUSTER, on_cluster, random_cluster

TIMED = ("time", "shapes", "plan with times")


def run(foretrace, *words):
    return subprocess.run([foretrace, *words, "--quiet"], check=True,
                          capture_output=True, text=True).stdout


def micro_batch(path):
    return int(re.search(r"micro_batch = (\d+)", open(path).read())[1])


def add_sweep(numbers, foretrace, path, folder, seed):
    """Metrics: of a rank the most of all stages."""
    database = f"{folder}/{seed}.db"
    run(foretrace, "sweep", path, "--sweep=train.micro_batch=" + str(micro_batch(path)), "-o",
        database)
    row = json.loads(run(foretrace, "sweep", "-o", database, "--format=json",
                         "--query", "SELECT * FROM points WHERE id = 0"))
    most = collections.defaultdict(int)
    for (of, key), values in numbers.given.items():
        if [name for name, _ in of] == ["stages"]:
            most[key] = max(most[key], *values)
        elif [name for name, _ in of] == ["stages", "group"]:
            key += "_" + of[1][1].replace("-", "_")
            most[key] = max(most[key], *values)
    for key, value in row.items():
        if key in most:
            numbers.add("sweep", ("most",), key, value)
            numbers.add("stages", ("most",), key, most[key])
        if key in ("peak", "fits", "cross_node", "bubble"):
            numbers.add("sweep", (), key, value)


def one(foretrace, folder, seed):
    """What is wrong, or None."""
    draw = random.Random(seed)
    path, text, _, _ = on_cluster(
        foretrace, folder, seed, random_cluster, CLUSTER.replace(
            "  tiers", f"  device {{{{ memory = {draw.randint(1, 500)} MB }}}}\n  tiers"))
    path += ".fore"
    numbers, found = documents.read_all(
        foretrace, path, [name for name in documents.COMMANDS if name not in TIMED])
    add_sweep(numbers, foretrace, path, folder, seed)
    problems = [*documents.problems_of_form(found, ""), *numbers.problems()]
    return "\n".join([f"seed {seed}:", *problems, text]) if problems else None


if __name__ == "__main__":
    each_job.main(one)
