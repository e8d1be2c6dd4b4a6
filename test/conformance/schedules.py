# SPDX-License-Identifier: Apache-2.0
"""Compares pipeline schedules, cell by cell, with files of other tools.

A file has a line for each rank and a cell for each action, as PyTorch writes
them; docs/plan.md#schedules has the grammar. index.csv says how long each
takes, in unit time, and what it keeps.
"""
import csv
import json
import os
import re
import sys

import importing
import tool

CELL = re.compile(r"(\d+)([A-Z_]+?)(\d*)$")
GROUP = re.compile(r"\((.*)\)([A-Z_0-9]+)$")
MESSAGES = {"SEND_F", "RECV_F", "SEND_B", "RECV_B"}
ADDED = MESSAGES | {"UNSHARD", "RESHARD", "REDUCE_GRAD"}

# Folder, begin of a file's name, and the keys of `parallel` it stands for. The
# -uneven files are not of unit costs, nor are the -ir files run by anybody.
PYTORCH = {"1F1B": "one_f_one_b", "GPipe": "gpipe", "LoopedBFS": "looped_bfs",
           "Interleaved1F1B": "interleaved_1f1b",
           "InterleavedZeroBubble": "interleaved_zb", "ZBVZeroBubble": "zbv",
           "DualPipeV": "dualpipe_v"}
DEEPSEEK = {"DualPipe": "dualpipe", "DualPipeV": "dualpipe_v"}
MEGATRON = {"1F1B": "one_f_one_b", "interleaved": "interleaved"}
KINDS = {
    "pytorch": PYTORCH,
    "pytorch-comms": PYTORCH,
    "pytorch-artifacts": {"zb1p": "interleaved_zb", "dualpipev": "dualpipe_v"},
    "torchtitan-artifacts": {"example": "interleaved_1f1b"},
    "deepseek": DEEPSEEK,
    "deepseek-comms": DEEPSEEK,
    "megatron-main": MEGATRON,
    "megatron-core_v0.7.0": MEGATRON,
    "sail-zb": {"ZB1P": "zb_h1"},
}
KEYS = {"megatron-core_v0.7.0": 'megatron = "0.7"'}
NAME = re.compile(r"([A-Za-z0-9]+)((?:-[a-z0-9]+)*)_")
# Options in a name, and the command line or keys they stand for.
OPTIONS = {"comms": "--comms", "batchp2p": "--comms=calls"}
# Lowered by older releases than the one that `--comms` follows.
OLD_MESSAGES = {"pytorch-artifacts", "torchtitan-artifacts"}


class Case:
    """A file, and the job that should give it."""

    def __init__(self, path):
        self.path = path
        self.folder = os.path.basename(os.path.dirname(path))
        name = NAME.match(os.path.basename(path))
        self.kind = KINDS.get(self.folder, {}).get(name and name[1])
        self.options = [x for x in name[2].split("-") if x] if name else []
        if self.kind:
            self.read()

    def read(self):
        with open(self.path) as file:
            self.lines = [cells_of(line) for line in file.read().splitlines()]
        steps = [cell for line in self.lines for entry in line
                 for cell in entry[0] if cell[1] not in ADDED]
        self.ranks = len(self.lines)
        self.micro_batches = 1 + max(cell[2] for cell in steps)
        self.parts = 1 + max(cell[0] for cell in steps)

    def is_covered(self):
        """ZB1P is a search, which finds the fixed order from 2 x pp on."""
        known = all(x in ("comms", "fsdp", "batchp2p", "epa2a")
                    or re.match(r"n\d+$", x) for x in self.options)
        return bool(self.kind) and known and not (
            self.folder == "sail-zb" and self.micro_batches < 2 * self.ranks)

    def to_fore(self):
        """A job with a layer in each part; with two replicas, for ZeRO 3 and
        experts."""
        keys = [KEYS.get(self.folder, "")]
        keys += ["micro_batch_group = %s" % x[1:] for x in self.options
                 if re.match(r"n\d+$", x)]
        copies, block = 1, ""
        if "fsdp" in self.options:
            copies = 2
            keys.append("zero = 3  zero_pipeline = true")
        if "epa2a" in self.options:
            copies = 2
            keys.append("ep = 2  overlap_moe_expert_parallel_comm = true")
            block = ("block b { experts = 2  topk = 1  dispatcher = alltoall"
                     "  ffn { intermediate = 8 } }  ")
        return ("model m { vocab = 128  hidden = 8  attention mha { heads = 1 }"
                "  %slayers = %s }\n"
                "train { sequence = 8  micro_batch = 1  global_batch = %d }\n"
                "parallel { world = %d  pp = %d  vpp = %d  schedule = %s  %s }\n"
                % (block, "%d%s" % (self.parts, block and " * b"),
                   self.micro_batches * copies, self.ranks * copies,
                   self.ranks, self.parts // self.ranks, self.kind,
                   "  ".join(keys)))


def cells_of(line):
    """Entries that are not empty, as ([(part, word, micro-batch)], word)."""
    entries = []
    for text in filter(None, map(str.strip, line.split(","))):
        group = GROUP.match(text)
        cells = [CELL.match(x).groups()
                 for x in (group[1] if group else text).split(";")]
        entries.append(([(int(part), word, micro_batch and int(micro_batch))
                         for part, word, micro_batch in cells],
                        group[2] if group else ""))
    return entries


def normalize(case, lines):
    """What PyTorch frees at once it frees in no order (it goes through a set).
    Old files lack messages of today; one of them has full backward steps in
    place of both halves."""
    if case.folder in OLD_MESSAGES:
        lines = [[e for e in line if e[0][0][1] not in ADDED] for line in lines]
        lines = [merge(line) for line in lines]
    for line in lines:
        for first in range(len(line)):
            last = first
            while last < len(line) and line[last][0][0][1] == "RESHARD":
                last += 1
            line[first:last] = sorted(line[first:last])
    return lines


def merge(line):
    """Both halves of a backward step, where they follow one another, as one."""
    out = []
    for cells, word in line:
        part, kind, micro_batch = cells[0]
        if kind == "W" and out and out[-1] == ([(part, "I", micro_batch)], ""):
            cells = [(part, "B", micro_batch)]
            out.pop()
        out.append((cells, word))
    return out


def difference(case, lines):
    """Where lines differ from a file's, in words."""
    wanted = normalize(case, case.lines)
    if len(lines) != len(wanted):
        return "%d lines instead of %d" % (len(lines), len(wanted))
    for rank, (want, got) in enumerate(zip(wanted, normalize(case, lines))):
        for at, pair in enumerate(zip(want + [None], got + [None])):
            if pair[0] != pair[1]:
                return "rank %d, cell %d: expected %s, got %s" % (
                    (rank, at) + pair)
    return None


def figures_of(text):
    """What index.csv says, from our numbers."""
    plan = json.loads(text)
    stages = plan["stages"]
    found = {name: str(plan[key]) for name, key in
             (("makespan", "makespan"), ("work", "work"), ("bubble", "idle"),
              ("span_bubble", "span_idle"))}
    for key, ours in (("BW", "weights"), ("BI", "inputs")):
        found["peak_until_" + key] = " ".join(
            str(stage["peak_until_" + ours]) for stage in stages)
    return found


def compare(case, row):
    """How a file and its row of the index differ from what the job gives."""
    def plan(*options):
        return tool.run("plan", "--schedule", "-", *options, input=case.to_fore())

    messages = [OPTIONS[x] for x in case.options if x in OPTIONS]
    lines = [cells_of(x) for x in plan("--format=csv", *messages).splitlines()]
    if problem := difference(case, lines):
        yield problem
    elif row and row["makespan"]:
        for key, value in figures_of(plan("--format=json")).items():
            if row[key] != value:
                yield "%s: expected %s, got %s" % (key, row[key], value)


def read_index(root):
    """The rows of index.csv by the last two parts of their paths."""
    path = os.path.join(root, "index.csv")
    if not os.path.exists(path):
        return {}
    with open(path) as file:
        return {tuple(row["path"].split("/")[-2:]): row
                for row in csv.DictReader(file)}


def cases_in(folder):
    return [Case(os.path.join(folder, name)) for name in sorted(
        os.listdir(folder)) if name.endswith(".csv") and name != "index.csv"]


def find_folders(root):
    """Folders with cases that can be compared; says how many can't."""
    folders = [folder for folder, _, _ in sorted(os.walk(root))]
    missing = sum(not case.is_covered()
                  for folder in folders for case in cases_in(folder))
    if missing:
        print("pipeline-schedules: %d files of other schedules: not covered"
              % missing, file=sys.stderr)
    return [folder for folder in folders
            if os.path.basename(folder) in KINDS]


def run_folder(folder):
    """(case, problem or None) of each case."""
    index = read_index(os.path.dirname(folder))
    for case in cases_in(folder):
        if case.is_covered():
            yield case.path, importing.verdict(compare, case, index.get(
                tuple(case.path.split("/")[-2:])))
