# SPDX-License-Identifier: Apache-2.0
"""usage: balanced.py SEED COUNT

Balanced splits of random small models against all splits there are: none has
a smaller largest stage, or with `balance = memory` a smaller peak."""

import itertools
import math

import tool

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


def peak_of(job):
    """The peak of the rank with most."""
    return tool.document("memory", "-", input=job)["peak"]


def layouts(layers, stages):
    """All splits of so many layers, each as the layers of its stages."""
    for cuts in itertools.combinations(range(1, layers), stages - 1):
        bounds = [0, *cuts, layers]
        yield [b - a for a, b in zip(bounds, bounds[1:])]


def best(embedding, layers, head, stages):
    """The smallest largest stage of all splits."""
    def largest(layout):
        rest = iter(layers)
        sums = [sum(itertools.islice(rest, count)) for count in layout]
        sums[0] += embedding
        sums[-1] += head
        return max(sums)
    return min(map(largest, layouts(len(layers), stages)))


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


def check(case):
    rng = case.draw
    while True:
        kinds = rng.randint(1, 3)
        widths = [rng.choice([16, 64, 256, 1024]) for _ in range(kinds)]
        text, layers = pattern(rng, kinds)
        stages = rng.randint(1, min(6, len(layers)))
        vocab = rng.choice([128, 512, 4096])
        balance = rng.choice(["parameters", "flops", "memory"])
        if len(layers) <= 12 and (balance != "memory" or math.comb(
                len(layers) - 1, stages - 1) <= MAX_PEAKS):
            break
    batches = rng.randint(1, 8)

    def job_of(split):
        return JOB.format(
            vocab=vocab, layers=text, pp=stages, ga=batches, split=split,
            blocks="\n".join("  block b%d { ffn { intermediate = %d } }"
                             % (i, widths[i]) for i in sorted(set(layers))))

    job = job_of("partition = balanced  balance = " + balance)
    case.write(job)
    if balance == "memory":
        largest = peak_of(job)
        least = min(peak_of(job_of(f"layout = {layout}"))
                    for layout in layouts(len(layers), stages))
    else:
        # Each stage has one chunk.
        largest = max(int(row[balance]) for row in tool.table("plan", case.job))
        least = best(*weights_of(balance, vocab, [widths[i] for i in layers]), stages)
    assert largest == least, f"largest {largest}, possible {least}"


tool.cases(check)
