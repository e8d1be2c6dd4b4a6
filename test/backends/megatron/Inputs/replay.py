#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# Runs the traces of all stages of random pipelines against each other: every
# message is received by whom it was sent to, for the chunk it is for, before it
# is used, and nobody waits forever.
"""usage: replay.py FORETRACE SEED COUNT"""

import collections
import pathlib
import random
import re
import subprocess
import sys
import tempfile

JOB = """model m {{ vocab = 512 hidden = 64 attention mha {{ heads = 4 }} layers = {layers} }}
train {{ sequence = 32 micro_batch = 1 global_batch = {batches} }}
parallel {{ world = {pp} pp = {pp} vpp = {vpp} {schedule} }}
emit megatron {{}}
"""
ROW = re.compile(r"rank:\d+:(\w+)\(stage_id=\d+,batch_id=(\d+)"
                 r"(?:,chunk_id=(\d+))?,")
FORWARD, BACKWARD = "forward", "backward"


def pipeline(rng):
    """A legal pipeline: pp, vpp, micro-batches, schedule."""
    pp = rng.choice([1, 2, 3, 4, 5, 8])
    vpp = rng.choice([1, 1, 2, 3]) if pp > 1 else 1
    batches = rng.randint(1, 20) if vpp == 1 else pp * rng.randint(1, 4)
    gpipe = pp > 1 and vpp == 1 and rng.random() < 0.3
    return pp, vpp, batches, "schedule = gpipe" if gpipe else ""


def rows_of(path):
    """(op, chunk) of each row that takes part in the pipeline."""
    for line in path.read_text(encoding="utf-8").splitlines():
        op, _, chunk = ROW.match(line).groups()
        yield op, int(chunk or 0)


class Stage:
    """What a stage has received and not used, and where it stands."""

    def __init__(self, rows):
        self.rows = list(rows)
        self.at = 0
        self.ready = collections.Counter()  # by direction and chunk
        self.done = collections.Counter()


def neighbour(stage, chunk, direction, pp):
    """Where a result goes: stage and its chunk."""
    if direction == FORWARD:
        return ((stage + 1, chunk) if stage < pp - 1 else (0, chunk + 1))
    return ((stage - 1, chunk) if stage > 0 else (pp - 1, chunk - 1))


def step(stages, index, messages, pp, vpp):
    """Runs one row of a stage; False if it must wait."""
    stage = stages[index]
    op, chunk = stage.rows[stage.at]
    kind, _, direction = op.partition("_")
    if kind == "send":
        target = neighbour(index, chunk, direction, pp)
        messages[index, target[0], direction].append(target[1])
    elif kind == "recv":
        source = (index - 1 if direction == FORWARD else index + 1) % pp
        queue = messages[source, index, direction]
        if not queue:
            return False
        sent = queue.popleft()
        assert sent == chunk, f"stage {index} gets chunk {sent}, not {chunk}"
        stage.ready[direction, chunk] += 1
    elif op == "forward_step":
        if not (index == 0 and chunk == 0):
            stage.ready[FORWARD, chunk] -= 1
            assert stage.ready[FORWARD, chunk] >= 0, f"stage {index}: {op}"
        stage.done[FORWARD, chunk] += 1
    elif op == "backward_step":
        if not (index == pp - 1 and chunk == vpp - 1):
            stage.ready[BACKWARD, chunk] -= 1
            assert stage.ready[BACKWARD, chunk] >= 0, f"stage {index}: {op}"
        stage.done[BACKWARD, chunk] += 1
        assert stage.done[BACKWARD, chunk] <= stage.done[FORWARD, chunk]
    stage.at += 1
    return True


def replay(folder, pp, vpp, batches):
    """Runs all stages to the end."""
    stages = [Stage(rows_of(folder / f"rank{i}.txt")) for i in range(pp)]
    messages = collections.defaultdict(collections.deque)
    moved = True
    while moved:
        moved = False
        for index, stage in enumerate(stages):
            while stage.at < len(stage.rows) and step(stages, index, messages,
                                                      pp, vpp):
                moved = True
    for index, stage in enumerate(stages):
        assert stage.at == len(stage.rows), (
            f"stage {index} waits at row {stage.at + 1}")
        for chunk in range(vpp):
            for direction in FORWARD, BACKWARD:
                assert stage.done[direction, chunk] == batches
                assert stage.ready[direction, chunk] == 0
    assert not any(messages.values()), "a message nobody receives"


def main():
    foretrace, seed, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    rng = random.Random(seed)
    for _ in range(count):
        pp, vpp, batches, schedule = pipeline(rng)
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            job = folder / "job.fore"
            job.write_text(JOB.format(layers=pp * vpp, pp=pp, vpp=vpp,
                                      batches=batches, schedule=schedule),
                           encoding="utf-8")
            subprocess.run([foretrace, "compile", str(job), "-o",
                            f"{folder}/", "--quiet"], check=True)
            try:
                replay(folder, pp, vpp, batches)
            except AssertionError as error:
                sys.exit(f"pp = {pp}, vpp = {vpp}, {batches} micro-batches "
                         f"{schedule}: {error}")
    print(f"{count} pipelines")


if __name__ == "__main__":
    main()
