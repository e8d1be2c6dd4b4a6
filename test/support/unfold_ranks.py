# SPDX-License-Identifier: Apache-2.0
"""usage: unfold_ranks.py SEED COUNT

Unfolds random jobs to what each rank does, in order: messages, and collectives
with the members of their groups. Runs all ranks against each other, and compares
with what the verifier says of the folded program. In some jobs a stage's step is
changed: a collective is left out, moved, or has another group.
"""
import re

import schedule_text
import tool
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
        self.text = text
        self.sent = {}  # what is broadcast, by block
        super().__init__(text)
        self.chunks, self.steps = [], []
        stage = None
        for line in text.splitlines():
            if line.startswith("stage "):
                bounds = [int(n) for n in line.split()[1].split("..")]
                stage = tool.each((bounds[0], bounds[-1]))
                self.chunks += [[] for _ in stage]
            elif match := re.match(r"  chunk (?:\* (\d+) )?= (.*)", line):
                for index in stage:
                    self.chunks[index] += int(match[1] or 1) * [
                        expand(match[2])]
            elif line.startswith("  step = "):
                self.steps += [line.split()[2]] * len(stage)
        self.schedule = schedule_text.Schedule(schedule_text.split(text)[1])
        # Megatron-LM, RankGenerator("tp-cp-ep-dp-pp") or ("tp-cp-ep-pp-dp").
        axes = [("tp", "cp", "dp", "dp_replicate"),
                ("etp", "ep", "edp", "dp_replicate")]
        at = 2 if "rank_order = tp_cp_ep_pp_dp" in text else 4
        self.dense, self.expert = (
            [(a, self.extent([a])) for a in view[:at] + ("pp",) + view[at:]]
            for view in axes)
        self.ranks = self.extent(axis for axis, _ in self.dense)
        # Between neighbouring stages.
        self.stride = self.extent(axis for axis, _ in self.dense[:at])

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

    def boundary(self):
        """Bytes of what is sent between stages."""
        output = self.signatures["embedding"][1][0]
        return self.bytes(self.values["embedding"][output])

    def all_meet(self):
        """Returns whether all ranks end, and only the same things meet. A rank waits for
        what it receives and for collectives."""
        programs = []
        for rank in range(self.ranks):
            calls = []
            for call in self.program(rank):
                if any(rank not in members for members, _, _ in call):
                    return False
                calls.append([
                    (what if what[0] == "message" else (members, axes), what, len(members),
                     what[0] != "message" or what[1][1] == rank
                     or self.schedule.transport == "combined")
                    for members, what, axes in call])
            programs.append(calls)
        return schedule_text.all_meet(programs)


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


def compile_some(case):
    """(text, IR) of a random job that is small enough and legal; no IR if the verifier
    refuses it."""
    draw = case.draw
    while True:
        job = random_job(draw)
        if job.tp * job.cp * job.replicas * job.pp > MAX_RANKS:
            continue
        text = text_of(job)
        kind = draw.choice(KINDS)
        if kind and job.pp > 1:
            text = tool.with_keys(text, "parallel", schedule=kind)
        if job.pp > 1 and draw.random() < .2:
            text = tool.with_keys(text, "parallel", rank_order="tp_cp_ep_pp_dp")
        done = tool.attempt("compile", case.write(text), "--emit=ir", "--stdout", "--quiet")
        if done.returncode == 0:
            return text, done.stdout
        if "[verify-" in done.stderr:
            return text, None


def random_ranks(case):
    """A random job of several ranks, whose text is written to the file of the case."""
    while True:
        job = Job(compile_some(case)[1])
        if job.ranks > 1:
            return job


def check(case):
    """`legal`, or nothing."""
    _, text = compile_some(case)
    assert text, "the verifier refuses"
    changed = change_step(text, case.draw) if case.draw.random() < .3 else None
    done = tool.attempt("opt", case.write(changed or text, ".ftir"))
    expected = Job(changed or text).all_meet()
    # Another group may also be against the layouts of its values.
    agrees = expected == (done.returncode == 0) or (
        expected and changed and "[verify-move]" in done.stderr)
    assert agrees and (changed or expected) and done.returncode in (0, 1), (
        expected, done.returncode, done.stderr)
    return "legal" if expected else None


if __name__ == "__main__":
    tool.cases(check)
