# SPDX-License-Identifier: Apache-2.0
"""Holds variants of a job against each other, each with each."""

import itertools

import tool
from check_diff import check_mirrored, diff

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


def text_of(model, train, parallel):
    return ('import "models/llama3-8b.fore"\n' + section("model m : llama3_8b", model)
            + section("train", {**TRAIN, **train}) + section("parallel", {**PARALLEL, **parallel}))


numbers = range(len(VARIANTS))
with tool.scratch() as folder:
    jobs = [folder / f"{number}.fore" for number in numbers]
    for job, variant in zip(jobs, VARIANTS):
        job.write_text(text_of(*variant))
    found = {(a, b): diff(jobs[a], jobs[b])["figures"]
             for a, b in itertools.product(numbers, numbers)}
for (a, b), there in found.items():
    assert (a == b) == (not there), (a, b)
    check_mirrored(there, found[b, a])
for a, b, c in itertools.product(numbers, numbers, numbers):
    new = set(found[a, c]) - set(found[a, b]) - set(found[b, c])
    # Rows of stages are cut where one of two jobs cuts them.
    assert all(isinstance(first, int) for _, _, first, *_ in new), new
print(sum(map(len, found.values())), "figures of", len(found), "pairs")
