# SPDX-License-Identifier: Apache-2.0
"""usage: unfold_ranks.py FORETRACE SEED COUNT

Unfolds random jobs to what each rank does, in order: messages, and collectives
with the members of their groups. Runs all ranks against each other, and compares
with what the verifier says of the folded program. In some jobs a stage's step is
changed: a collective is left out, moved, or has another group.
"""
import concurrent.futures
import math
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "conformance"))
import schedule_text
from ftir import COLLECTIVE, Program
from job import text_of
from random_jobs import random_job
from spec import expand

KINDS = ["", "", "gpipe", "looped_bfs", "interleaved_1f1b", "zb_h1",
         "interleaved_zb", "zbv", "dualpipe", "dualpipe_v"]
MAX_RANKS = 16
# Of a sample, before all else of a forward step (Megatron-LM, core/utils.py,
# get_batch_on_this_tp_rank).
SAMPLE = ["tokens", "labels", "loss_mask", "position_ids", "attention_mask"]
MESSAGES = ("send_forward", "recv_forward", "send_backward", "recv_backward")


class Job(Program):
    """What `--emit=ir` says, unfolded."""

    def __init__(self, text):
        self.sent = {}  # what is broadcast, by block
        super().__init__(text)
        self.chunks, self.steps = [], []
        stage = None
        for line in text.splitlines():
            if line.startswith("stage "):
                bounds = [int(n) for n in line.split()[1].split("..")]
                stage = range(bounds[0], bounds[-1] + 1)
                self.chunks += [[] for _ in stage]
            elif match := re.match(r"  chunk (?:\* (\d+) )?= (.*)", line):
                for index in stage:
                    self.chunks[index] += int(match[1] or 1) * [
                        expand(match[2])]
            elif line.startswith("  step = "):
                self.steps += [line.split()[2]] * len(stage)
        self.schedule = schedule_text.Schedule(schedule_text.split(text)[1])
        size = lambda axis: self.mesh.get(axis, 1)
        # Megatron-LM, RankGenerator("tp-cp-ep-dp-pp") or ("tp-cp-ep-pp-dp").
        axes = [("tp", "cp", "dp", "dp_replicate"),
                ("etp", "ep", "edp", "dp_replicate")]
        at = 2 if "rank_order = tp_cp_ep_pp_dp" in text else 4
        self.dense, self.expert = (
            [(a, size(a)) for a in view[:at] + ("pp",) + view[at:]]
            for view in axes)
        product = lambda view: math.prod(extent for _, extent in view)
        self.ranks = product(self.dense)
        self.stride = product(self.dense[:at])  # between neighbouring stages

    def read(self, line, block, values):
        super().read(line, block, values)
        match = COLLECTIVE.match(line)
        if match and match[2] == "broadcast":
            self.sent.setdefault(block, []).append(match[5])

    def coordinates(self, rank, axes):
        place = {}
        for axis, extent in axes:
            place[axis] = rank % extent
            rank //= extent
        return place

    def members(self, rank, axes):
        """The ranks of a collective's group; all but themselves if it is in
        none."""
        if axes in (("ends",), ("pairs",)):
            last = self.schedule.p - 1
            stage = self.coordinates(rank, self.dense)["pp"]
            rest = rank - stage * self.stride
            stages = {0, last} if axes == ("ends",) else {stage, last - stage}
            return frozenset(rest + s * self.stride
                             for s in stages)
        view = self.expert if {"etp", "ep", "edp"} & set(axes) else self.dense
        own = self.coordinates(rank, view)
        return frozenset(
            other for other in range(self.ranks)
            if all(place == own[axis] for axis, place in
                   self.coordinates(other, view).items() if axis not in axes))

    def program(self, rank):
        """Calls: lists of (who takes part, what, the group's axes)."""
        stage = self.coordinates(rank, self.dense)["pp"]
        calls = []
        for joins, kind, batch, chunk, peer, tag in self.schedule.unfold(stage):
            if kind in MESSAGES:
                if not joins:
                    calls.append([])
                distance = (peer - stage) * self.stride
                ends = ((rank, rank + distance) if kind.startswith("send")
                        else (rank + distance, rank))
                calls[-1].append((frozenset(ends), ("message", ends, tag),
                                  ()))
                continue
            for name, axes, size in self.collectives(stage, kind, chunk):
                # Groups with the same members are communicators of their own.
                calls.append([(self.members(rank, axes), (name, size), axes)])
        return calls

    def collectives(self, stage, kind, chunk):
        if kind == "reduce_gradients":
            return [op[1:] for op in self.blocks[self.steps[stage]]]
        if kind in ("step", "backward_weight"):
            return []
        layers = self.chunks[stage][chunk]
        is_forward = kind == "forward_step"
        calls, reads = [], []
        for block in layers if is_forward else layers[::-1]:
            names = iter(self.sent.get(block, []))
            for phase, name, *rest in self.blocks[block]:
                if name == "broadcast":
                    reads.append((SAMPLE.index(next(names)), (name, *rest)))
                elif (phase == "forward") == is_forward:
                    calls.append((name, *rest))
        if not is_forward:
            return calls
        return [op for _, op in sorted(reads, key=lambda read: read[0])] + calls

    def all_meet(self):
        """Whether no rank waits for ever, or meets with something else."""
        programs = [self.program(rank) for rank in range(self.ranks)]
        counts = [{} for _ in programs]
        at, entered = [0] * self.ranks, [-1] * self.ranks
        come, moved = {}, True
        while moved:
            moved = False
            for rank, calls in enumerate(programs):
                while at[rank] < len(calls):
                    if entered[rank] < at[rank]:
                        entered[rank], moved = at[rank], True
                        names = []
                        for members, what, axes in calls[at[rank]]:
                            if rank not in members:
                                return False
                            key = (what if what[0] == "message"
                                   else (members, axes))
                            number = counts[rank].get(key, 0)
                            counts[rank][key] = number + 1
                            kind, ranks = come.setdefault(
                                (key, number), (what, set()))
                            if kind != what:
                                return False
                            ranks.add(rank)
                            names.append((key, number, members, what))
                        calls[at[rank]] = names
                    if any(len(come[key, number][1]) < len(members)
                           for key, number, members, what in calls[at[rank]]
                           if what[0] != "message" or what[1][1] == rank
                           or self.schedule.transport == "combined"):
                        break
                    at[rank] += 1
                    moved = True
        return all(at[rank] == len(calls)
                   for rank, calls in enumerate(programs))


def change_step(text, draw):
    """Changes a collective of a random step; the text, or None."""
    lines = text.split("\n")
    block, places = None, []
    for index, line in enumerate(lines):
        if line.startswith("block "):
            block = line.split()[1]
        elif block and block.startswith("step.") and COLLECTIVE.match(line):
            places.append(index)
    if not places:
        return None
    at = draw.choice(places)
    match = COLLECTIVE.match(lines[at])
    how = draw.choice(["drop", "group", "swap"])
    is_used = [re.search(r"%%%s(?![\w.])" % re.escape(match[1]), line)
               for line in lines[at + 1:]]
    if how == "drop" and not any(is_used):
        del lines[at]
    elif how == "group" and match[4]:
        lines[at] = lines[at].replace(match[4] + ")", draw.choice(
            [")", " ends)", " pairs)"]), 1)
    elif at + 1 in places and not is_used[0]:
        lines[at], lines[at + 1] = lines[at + 1], lines[at]
    return "\n".join(lines)


def compile_some(foretrace, path, draw):
    """The IR of a random legal job that is small enough."""
    while True:
        job = random_job(draw)
        if job.tp * job.cp * job.replicas * job.pp > MAX_RANKS:
            continue
        text = text_of(job)
        kind = draw.choice(KINDS)
        if kind and job.pp > 1:
            text = text.replace("parallel {", "parallel { schedule = %s " % kind)
        if job.pp > 1 and draw.random() < .2:
            text = text.replace(
                "parallel {", "parallel { rank_order = tp_cp_ep_pp_dp ")
        with open(path, "w") as file:
            file.write(text)
        run = subprocess.run([foretrace, "compile", path, "--emit=ir",
                              "--stdout", "--quiet"],
                             capture_output=True, text=True)
        if run.returncode == 0:
            return text, run.stdout
        if "[verify-" in run.stderr:
            return text, None


def random_ranks(foretrace, folder, seed):
    """(source of more randomness, path without its ending, text, IR) of a job of
    several ranks that is written to PATH.fore."""
    draw = random.Random(seed)
    path = os.path.join(folder, seed)
    while True:
        text, ir = compile_some(foretrace, path + ".fore", draw)
        job = Job(ir)
        if job.ranks > 1:
            return draw, path, text, ir


def one(foretrace, folder, seed):
    """(whether it is legal, a disagreement or None)"""
    draw = random.Random(seed)
    path = os.path.join(folder, seed)
    job, text = compile_some(foretrace, path + ".fore", draw)
    if text is None:
        return False, "seed %s: the verifier refuses\n%s" % (seed, job)
    changed = change_step(text, draw) if draw.random() < .3 else None
    with open(path + ".ftir", "w") as file:
        file.write(changed or text)
    run = subprocess.run([foretrace, "opt", path + ".ftir"],
                         capture_output=True, text=True)
    expected = Job(changed or text).all_meet()
    # Another group may also be against the layouts of its values.
    agrees = expected == (run.returncode == 0) or (
        expected and changed and "[verify-move]" in run.stderr)
    if agrees and (changed or expected) and run.returncode in (0, 1):
        return expected, None
    return expected, "seed %s: expected %s, got %d: %s\n%s" % (
        seed, expected, run.returncode, run.stderr, job)


def main():
    foretrace, seed, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
    with tempfile.TemporaryDirectory() as folder, \
            concurrent.futures.ProcessPoolExecutor(os.cpu_count()) as pool:
        results = list(pool.map(
            one, [foretrace] * count, [folder] * count,
            ["%s.%d" % (seed, index) for index in range(count)], chunksize=8))
    for _, problem in results:
        if problem:
            print(problem)
    print("%d jobs, %d legal, %d disagreements" % (
        count, sum(legal for legal, _ in results),
        sum(problem is not None for _, problem in results)))


if __name__ == "__main__":
    main()
