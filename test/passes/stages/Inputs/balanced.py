#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# Balanced splits of random small models against all splits there are: none has
# a smaller largest stage, or with `balance = memory` a smaller peak.
"""usage: balanced.py FORETRACE SEED COUNT"""

import csv
import io
import itertools
import json
import math
import random
import subprocess
import sys
import tempfile

HIDDEN, SEQUENCE = 64, 32
MAX_PEAKS = 24  # splits whose memory is looked at
JOB = """model m {{
  vocab = {vocab}  vocab_multiple = 1  hidden = 64  attention mha {{ heads = 4 }}
{blocks}
  layers = {layers}
}}
train {{ sequence = 32  micro_batch = 1 }}
parallel {{ world = {pp}  pp = {pp}  ga = {ga}  {split} }}
"""


def weights_of(balance, vocab, widths):
    """What the embedding, each layer and the head weigh."""
    if balance == "parameters":
        return (vocab * HIDDEN,
                [4 * HIDDEN ** 2 + 2 * HIDDEN * width + 4 * HIDDEN
                 for width in widths],
                vocab * HIDDEN + 2 * HIDDEN)
    work = 3 * 2 * SEQUENCE * HIDDEN  # forward, and twice backward
    return (0, [work * (4 * HIDDEN + 2 * width) + 3 * 2 * SEQUENCE ** 2 * HIDDEN
                for width in widths], work * vocab)


def table_of(foretrace, job):
    """The plan of a job, a dict for each row."""
    with tempfile.NamedTemporaryFile("w", suffix=".fore") as file:
        file.write(job)
        file.flush()
        table = subprocess.run(
            [foretrace, "plan", file.name, "--format=csv"], check=True,
            stdout=subprocess.PIPE, text=True).stdout
    return list(csv.DictReader(io.StringIO(table)))


def peak_of(foretrace, job):
    """The peak of the rank with most."""
    with tempfile.NamedTemporaryFile("w", suffix=".fore") as file:
        file.write(job)
        file.flush()
        text = subprocess.run(
            [foretrace, "memory", file.name, "--format=json"], check=True,
            stdout=subprocess.PIPE, text=True).stdout
    return json.loads(text)["peak"]


def layouts(layers, stages):
    """All splits of so many layers, each as the layers of its stages."""
    for cuts in itertools.combinations(range(1, layers), stages - 1):
        bounds = [0, *cuts, layers]
        yield [b - a for a, b in zip(bounds, bounds[1:])]


def unfolded(rows, key):
    """A row for each of `key`, of rows that stand for several."""
    return [row for row in rows for _ in
            range(int(row["last_" + key]) - int(row["first_" + key]) + 1)]


def best(embedding, layers, head, stages):
    """The smallest largest stage of all splits."""
    least = None
    for cuts in itertools.combinations(range(1, len(layers)), stages - 1):
        bounds = [0, *cuts, len(layers)]
        sums = [sum(layers[a:b]) for a, b in zip(bounds, bounds[1:])]
        sums[0] += embedding
        sums[-1] += head
        if least is None or max(sums) < least:
            least = max(sums)
    return least


def pattern(rng, kinds):
    """A layer pattern, and its layers as block numbers."""
    text, layers = [], []
    while len(layers) < 2 or rng.random() < 0.5:
        if rng.random() < 0.4:
            times = rng.randint(1, 3)
            a, b = rng.randrange(kinds), rng.randrange(kinds)
            text.append(f"{times} * (b{a} + b{b})")
            layers += [a, b] * times
        else:
            times, a = rng.randint(1, 4), rng.randrange(kinds)
            text.append(f"{times} * b{a}")
            layers += [a] * times
    return " + ".join(text), layers


def main():
    foretrace, count = sys.argv[1], int(sys.argv[3])
    rng = random.Random(int(sys.argv[2]))
    done = 0
    while done < count:
        kinds = rng.randint(1, 3)
        widths = [rng.choice([16, 64, 256, 1024]) for _ in range(kinds)]
        text, layers = pattern(rng, kinds)
        if len(layers) > 12:
            continue
        used = sorted(set(layers))
        stages = rng.randint(1, min(6, len(layers)))
        vocab = rng.choice([128, 512, 4096])
        balance = rng.choice(["parameters", "flops", "memory"])
        batches = rng.randint(1, 8)

        def job_of(pp, split):
            return JOB.format(
                vocab=vocab, layers=text, pp=pp, ga=batches, split=split,
                blocks="\n".join("  block b%d { ffn { intermediate = %d } }"
                                 % (i, widths[i]) for i in used))

        job = job_of(stages, "partition = balanced  balance = " + balance)
        if balance == "memory":
            if math.comb(len(layers) - 1, stages - 1) > MAX_PEAKS:
                continue
            largest = peak_of(foretrace, job)
            least = min(peak_of(foretrace, job_of(stages, f"layout = {layout}"))
                        for layout in layouts(len(layers), stages))
        else:
            table = unfolded(table_of(foretrace, job), "stage")
            largest = max(int(row[balance]) for row in table)
            least = best(*weights_of(balance, vocab,
                                     [widths[i] for i in layers]), stages)
        if largest != least:
            sys.exit(f"{job}largest {largest}, possible {least}")
        done += 1
    print(f"{done} splits")


if __name__ == "__main__":
    main()
