# SPDX-License-Identifier: Apache-2.0
"""usage: replay.py SEED COUNT

Runs the traces of all ranks of random jobs against each other: every message
is received by whom it was sent to, for the chunk it is for, before it is used;
the members of every group make the same collective calls in the same order;
nobody waits forever."""

import collections
import pathlib
import re

import tool
from schedule_text import all_meet

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
            tied=tool.word(self.tied), layers=self.pp * self.vpp,
            experts="experts = 8 topk = 2" if self.has_experts else "",
            samples=self.batches * self.dp, world=self.world(), tp=self.tp,
            pp=self.pp, vpp=self.vpp, dialect=self.dialect,
            ep=f"ep = {self.ep} etp = 1" if self.has_experts else "",
            sp=tool.word(self.tp > 1 and self.has_experts),
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


def calls_of(job, rank, path):
    """What a rank does, as `all_meet` takes it. What it uses it has received before."""
    ready, done = collections.Counter(), collections.Counter()  # by direction and chunk
    stage = job.stage(rank)
    for op, chunk, details in events_of(path):
        kind, _, direction = op.partition("_")
        if op == "collective":
            members = job.members(rank, details[0])
            yield [(members, details[1], len(members), True)]
        elif kind == "send":
            peer, of = job.peer(rank, chunk, direction)
            yield [((rank, peer, direction), of, 2, False)]
        elif kind == "recv":
            ready[direction, chunk] += 1
            yield [((job.source(rank, direction), rank, direction), chunk, 2, True)]
        else:
            direction = FORWARD if op == "forward_step" else BACKWARD
            is_end = ((stage, chunk) == (0, 0) if direction == FORWARD
                      else (stage, chunk) == (job.pp - 1, job.vpp - 1))
            ready[direction, chunk] -= not is_end
            done[direction, chunk] += 1
            assert ready[direction, chunk] >= 0, f"rank {rank}: {op}"
            assert done[BACKWARD, chunk] <= done[FORWARD, chunk]
    for chunk in range(job.vpp):
        for direction in FORWARD, BACKWARD:
            assert done[direction, chunk] == job.batches
            assert ready[direction, chunk] == 0


def check(case):
    job = Job(case.draw)
    tool.run("compile", case.write(job.text()), "-o", case.stem + "/", "--quiet")
    assert all_meet([list(calls_of(job, rank, pathlib.Path(case.stem, f"rank{rank}.txt")))
                     for rank in range(job.world())]), "some wait for ever, or meet another call"


tool.cases(check)
