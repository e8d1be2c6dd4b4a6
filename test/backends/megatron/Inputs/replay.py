#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# Runs the traces of all ranks of random jobs against each other: every message
# is received by whom it was sent to, for the chunk it is for, before it is used;
# the members of every group make the same collective calls in the same order;
# nobody waits forever.
"""usage: replay.py FORETRACE SEED COUNT"""

import collections
import pathlib
import random
import re
import subprocess
import sys
import tempfile

JOB = """model m {{
  vocab = 512 hidden = 64 tied = {tied} attention mha {{ heads = 4 }}
  block e {{ {experts} ffn {{ intermediate = 128 }} }}
  layers = {layers} * e
}}
train {{ sequence = 32 micro_batch = 1 global_batch = {samples} }}
parallel {{
  world = {world} tp = {tp} pp = {pp} vpp = {vpp} {ep}
  sequence_parallel = {sp} {schedule}
}}
emit megatron {{ dialect = {dialect} }}
"""
ROW = re.compile(r"rank:\d+:(\w+)\(stage_id=\d+,batch_id=(\d+)"
                 r"(?:,chunk_id=(\d+))?,.*group_kind=(\w+),"
                 r"(input__shape=.*),timestamp=None,sub_operations=(.*)\)$")
CALL = re.compile(r"'trace_src_func=\w+,duration=None,timestamp=None,([^']*)'")
GROUP = re.compile(r",group=(\w+)")
FORWARD, BACKWARD = "forward", "backward"


class Job:
    """A legal job, and which ranks communicate in it."""

    def __init__(self, rng):
        self.pp = rng.choice([1, 2, 3, 4, 5, 8])
        self.vpp = rng.choice([1, 1, 2, 3]) if self.pp > 1 else 1
        self.tp = rng.choice([1, 1, 2])
        self.dp = rng.choice([1, 2, 4]) if self.pp < 5 else rng.choice([1, 2])
        self.ep = rng.choice([n for n in (1, 2, 4) if self.dp % n == 0])
        self.has_experts = self.ep > 1 or rng.random() < 0.3
        self.batches = (rng.randint(1, 20) if self.vpp == 1
                        else self.pp * rng.randint(1, 4))
        self.gpipe = self.pp > 1 and self.vpp == 1 and rng.random() < 0.3
        self.tied = rng.random() < 0.5
        self.dialect = rng.choice(["v1", "v2", "v2b"])

    def world(self):
        return self.tp * self.dp * self.pp

    def text(self):
        return JOB.format(
            tied=str(self.tied).lower(), layers=self.pp * self.vpp,
            experts="experts = 8 topk = 2" if self.has_experts else "",
            samples=self.batches * self.dp, world=self.world(), tp=self.tp,
            pp=self.pp, vpp=self.vpp, dialect=self.dialect,
            ep=f"ep = {self.ep} etp = 1" if self.has_experts else "",
            sp=str(self.tp > 1 and self.has_experts).lower(),
            schedule="schedule = gpipe" if self.gpipe else "")

    def stage(self, rank):
        return rank // (self.tp * self.dp)

    def members(self, rank, kind):
        """The ranks of the group that a trace calls `kind`."""
        tp, d, stage = (rank % self.tp, rank // self.tp % self.dp,
                        self.stage(rank))
        at = {
            "tp": [(t, d, stage) for t in range(self.tp)],
            "dp": [(tp, i, stage) for i in range(self.dp)],
            "exp": [(tp, d - d % self.ep + i, stage) for i in range(self.ep)],
            "ep_dp": [(tp, i, stage) for i in range(d % self.ep, self.dp,
                                                    self.ep)],
            "ep": [(tp, d, 0), (tp, d, self.pp - 1)],
        }
        return tuple(t + self.tp * (i + self.dp * s) for t, i, s in
                     at["ep_dp" if kind == "exp_dp" else kind])

    def peer(self, rank, chunk, direction):
        """Where a result goes: rank and its chunk."""
        stride, stage = self.tp * self.dp, self.stage(rank)
        if direction == FORWARD:
            return ((rank + stride, chunk) if stage < self.pp - 1
                    else (rank - stride * stage, chunk + 1))
        return ((rank - stride, chunk) if stage > 0
                else (rank + stride * (self.pp - 1), chunk - 1))

    def source(self, rank, direction):
        """Who sends to the rank."""
        stride = self.tp * self.dp
        return (rank + (-stride if direction == FORWARD else stride)) % (
            stride * self.pp)


def events_of(path):
    """(what, chunk, details) of all that happens on a rank, in order."""
    for line in path.read_text(encoding="utf-8").splitlines():
        op, _, chunk, kind, shape, calls = ROW.match(line).groups()
        chunk = int(chunk or 0)
        if op in ("forward_step", "backward_step"):
            yield op, chunk, None
        for call in CALL.findall(calls):
            yield "collective", chunk, (GROUP.search(call).group(1), call)
        if kind == "pp":
            yield op, chunk, None
        elif op.endswith("_allreduce"):
            yield "collective", chunk, (kind, shape)


class Rank:
    """What a rank has received and not used, and where it stands."""

    def __init__(self, events):
        self.events = list(events)
        self.at = 0
        self.waits = False  # in a collective call
        self.ready = collections.Counter()  # by direction and chunk
        self.done = collections.Counter()


class Run:
    """All ranks of a job on their way."""

    def __init__(self, job, folder):
        self.job = job
        self.ranks = [Rank(events_of(folder / f"rank{i}.txt"))
                      for i in range(job.world())]
        self.messages = collections.defaultdict(collections.deque)
        self.meetings = {}  # by members: the call, and who has come

    def meet(self, index, details):
        """Takes part in a collective; False if it must wait."""
        rank = self.ranks[index]
        kind, call = details
        members = self.job.members(index, kind)
        if not rank.waits:
            first, come = self.meetings.setdefault(members, (call, set()))
            assert first == call, f"rank {index}: {call}, but others {first}"
            come.add(index)
            rank.waits = True
            if come == set(members):
                for member in members:
                    self.ranks[member].at += 1
                    self.ranks[member].waits = False
                del self.meetings[members]
                return True
        return False

    def step(self, index):
        """Takes one event of a rank; False if it must wait."""
        rank, job = self.ranks[index], self.job
        op, chunk, details = rank.events[rank.at]
        if op == "collective":
            return self.meet(index, details)
        kind, _, direction = op.partition("_")
        stage = job.stage(index)
        if kind == "send":
            peer, of = job.peer(index, chunk, direction)
            self.messages[index, peer, direction].append(of)
        elif kind == "recv":
            queue = self.messages[job.source(index, direction), index,
                                  direction]
            if not queue:
                return False
            sent = queue.popleft()
            assert sent == chunk, f"rank {index} gets chunk {sent}, not {chunk}"
            rank.ready[direction, chunk] += 1
        else:
            direction = FORWARD if op == "forward_step" else BACKWARD
            is_end = ((stage, chunk) == (0, 0) if direction == FORWARD
                      else (stage, chunk) == (job.pp - 1, job.vpp - 1))
            if not is_end:
                rank.ready[direction, chunk] -= 1
                assert rank.ready[direction, chunk] >= 0, f"rank {index}: {op}"
            rank.done[direction, chunk] += 1
            assert rank.done[BACKWARD, chunk] <= rank.done[FORWARD, chunk]
        rank.at += 1
        return True

    def finish(self):
        """Runs all ranks to the end."""
        moved = True
        while moved:
            moved = False
            for index, rank in enumerate(self.ranks):
                while rank.at < len(rank.events) and self.step(index):
                    moved = True
        for index, rank in enumerate(self.ranks):
            assert rank.at == len(rank.events), (
                f"rank {index} waits at {rank.events[rank.at]}")
            for chunk in range(self.job.vpp):
                for direction in FORWARD, BACKWARD:
                    assert rank.done[direction, chunk] == self.job.batches
                    assert rank.ready[direction, chunk] == 0
        assert not any(self.messages.values()), "a message nobody receives"
        assert not self.meetings, "a call that not all members make"


def main():
    foretrace, seed, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    rng = random.Random(seed)
    ranks = 0
    for _ in range(count):
        job = Job(rng)
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            path = folder / "job.fore"
            path.write_text(job.text(), encoding="utf-8")
            subprocess.run([foretrace, "compile", str(path), "-o",
                            f"{folder}/", "--quiet"], check=True)
            try:
                Run(job, folder).finish()
            except AssertionError as error:
                sys.exit(f"{job.text()}{error}")
        ranks += job.world()
    print(f"{count} jobs, {ranks} ranks")


if __name__ == "__main__":
    main()
