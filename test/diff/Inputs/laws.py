# SPDX-License-Identifier: Apache-2.0
"""usage: laws.py FORETRACE FOLDER

Holds variants of a job against each other, each with each."""

import itertools
import json
import subprocess
import sys

TRAIN = {"sequence": 4096, "micro_batch": 1, "global_batch": 256}
PARALLEL = {"world": 64, "tp": 4, "pp": 2}
VARIANTS = [
    ({}, {}, {}),
    ({}, {}, {"tp": 8}),
    ({}, {}, {"pp": 4, "sequence_parallel": "true"}),
    ({}, {"recompute": "full"}, {"zero": 1}),
    ({}, {}, {"cp": 2, "world": 128}),
    ({"layers": 16}, {"precision": "fp32"}, {"schedule": "gpipe"}),
    ({}, {"recompute": "selective"}, {"tp": 1, "pp": 1}),
]


def section(head, keys):
    return f"{head} {{ {'  '.join(f'{k} = {v}' for k, v in keys.items())} }}\n"


def write_job(folder, number):
    """Writes a variant; returns its path."""
    model, train, parallel = VARIANTS[number]
    path = f"{folder}/{number}.fore"
    with open(path, "w", encoding="utf-8") as file:
        file.write('import "models/llama3-8b.fore"\n'
                   + section("model m : llama3_8b", model)
                   + section("train", {**TRAIN, **train})
                   + section("parallel", {**PARALLEL, **parallel}))
    return path


def compare(foretrace, before, after):
    """Each figure that differs, by its name."""
    run = subprocess.run([foretrace, "diff", before, after, "--format=json"],
                         capture_output=True, text=True, check=False)
    found = json.loads(run.stdout)
    assert run.returncode == (0 if found["same"] else 4), run
    return {(f["table"], *f.get("stages", ()), *f["row"], f["figure"]): f
            for f in found["figures"]}


def check_mirrored(there, back):
    assert set(there) == set(back), set(there) ^ set(back)
    for name, figure in there.items():
        assert figure["before"] == back[name]["after"], (figure, back[name])
        assert sorted(figure["by"]) == sorted(back[name]["by"]), (
            figure, back[name])


def main():
    foretrace, folder = sys.argv[1:]
    numbers = range(len(VARIANTS))
    jobs = [write_job(folder, n) for n in numbers]
    found = {(a, b): compare(foretrace, jobs[a], jobs[b])
             for a, b in itertools.product(numbers, numbers)}
    for (a, b), there in found.items():
        assert (a == b) == (not there), (a, b)
        check_mirrored(there, found[b, a])
    for a, b, c in itertools.product(numbers, numbers, numbers):
        new = set(found[a, c]) - set(found[a, b]) - set(found[b, c])
        # Rows of stages are cut where one of two jobs cuts them.
        assert all(isinstance(first, int) for _, first, *_ in new), new
    print(sum(map(len, found.values())), "figures of", len(found), "pairs")


main()
