#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# Balanced splits of random small models against all splits there are: none has
# a smaller largest stage.
"""usage: balanced.py FORETRACE SEED COUNT"""

import csv
import io
import itertools
import random
import subprocess
import sys
import tempfile

HIDDEN, SEQUENCE = 64, 32
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


def memory(row, stage, stages, batches):
    """Bytes of weights, gradients and the state of Adam, and of micro-batches
    on their way."""
    return (int(row["parameters"]) * 18
            + int(row["kept_activation_bytes"]) * min(stages - stage, batches))


def least_memory(rows, stages, batches):
    """The smallest largest stage of all splits of layers, a row each."""
    least = None
    for cuts in itertools.combinations(range(1, len(rows)), stages - 1):
        bounds = [0, *cuts, len(rows)]
        largest = max(
            sum(memory(row, stage, stages, batches) for row in rows[a:b])
            for stage, (a, b) in enumerate(zip(bounds, bounds[1:])))
        if least is None or largest < least:
            least = largest
    return least


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
        table = unfolded(table_of(foretrace, job), "stage")
        if balance == "memory":
            each = job_of(len(layers), "")
            least = least_memory(unfolded(table_of(foretrace, each), "stage"),
                                 stages, batches)
            largest = max(memory(row, stage, stages, batches)
                          for stage, row in enumerate(table))
        else:
            largest = max(int(row[balance]) for row in table)
            least = best(*weights_of(balance, vocab,
                                     [widths[i] for i in layers]), stages)
        if largest != least:
            sys.exit(f"{job}{table}largest {largest}, possible {least}")
        done += 1
    print(f"{done} splits")


if __name__ == "__main__":
    main()
