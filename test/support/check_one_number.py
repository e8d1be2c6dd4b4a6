#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# Runs every command that prints figures on random jobs. All that print a figure print
# the same number: of the job, of a stage, of a kind of layer, of a group of ranks.
"""usage: check_one_number.py FORETRACE SEED COUNT"""
import collections
import json
import random
import re
import subprocess

import each_job
from check_volume import CLUSTER, on_cluster, random_cluster

# What is asked for, and under which key of its answer a figure has another name: two
# words that stand side by side in one table, and say of what they are.
COMMANDS = {
    "params": ["params", "--by=stage"], "model": ["params"], "flops": ["flops"],
    "memory": ["memory"], "volume": ["volume"], "plan": ["plan"],
}
ALIASES = {
    ("params", "stages", "on_rank"): "parameters",
    ("model", "blocks", "parameters"): "published",
    ("flops", "", "flops"): None,
}


class Numbers:
    """By what they are of, and name: who says which number."""

    def __init__(self):
        self.said = collections.defaultdict(dict)

    def add(self, who, of, name, value):
        if isinstance(value, bool):
            value = int(value)
        if isinstance(value, int):
            self.said[of, name].setdefault(value, who)

    def problems(self):
        return [f"{of}, {name}: {values}" for (of, name), values
                in self.said.items() if len(values) > 1]

    def shared(self):
        return len(self.said)


def name_of(key):
    for unit in "_bytes", "_millionths":
        key = key.removesuffix(unit)
    return key


def stages_of(row):
    """The first and the last stage that a row is of, however it says it."""
    if "first" in row:
        return row["first"], row["last"]
    at = row["stages"]
    if isinstance(at, list):
        return tuple(at)
    first, _, last = at.partition("-")
    return int(first), int(last or first)


def add_stage(numbers, who, stages, row):
    of = "stages %d-%d" % stages
    for key, value in row.items():
        name = ALIASES.get((who, "stages", key), name_of(key))
        numbers.add(who, of, name, value)
    messages = row.get("messages")
    groups = row.get("message_bytes") or {
        m["group"]: m["bytes"] for m in messages or ()
    } if not isinstance(messages, int) else {}
    for group, value in groups.items():
        numbers.add(who, of, f"messages {group}", value)


def add_answer(numbers, who, answer):
    """Figures of the job, of its stages, and of a layer of each kind."""
    for key, value in answer.items():
        numbers.add(who, "job", ALIASES.get((who, "", key), name_of(key)), value)
    # Chunks, causes, phases and tiers are parts that one command alone knows.
    for row in answer.get("stages", ()):
        if who not in ("volume", "memory"):
            add_stage(numbers, who, stages_of(row), row)
    for row in answer.get("blocks", ()):
        for key, value in row.items():
            name = ALIASES.get((who, "blocks", key), name_of(key))
            numbers.add(who, f"block {row['block']}", name, value)


def add_memory(numbers, rows, kinds):
    """`memory` has rows of stages with the same numbers; of those with the same
    layers, the one with most is meant elsewhere."""
    for first, last in kinds:
        most = collections.defaultdict(int)
        for row in rows:
            begin, end = stages_of(row)
            if begin <= last and first <= end:
                for key, value in row.items():
                    if isinstance(value, int):
                        most[key] = max(most[key], value)
        for key, value in most.items():
            numbers.add("memory", f"stages {first}-{last}", key, value)


def run(foretrace, *words):
    return subprocess.run([foretrace, *words, "--quiet"], check=True,
                          capture_output=True, text=True).stdout


def add_plan(numbers, foretrace, path):
    plan = json.loads(run(foretrace, "compile", path, "--emit=json", "-o", "-"))
    plan["parameters"] = plan["model"]["parameters"]
    plan["activated"] = plan["model"]["activated"]
    plan["tokens"] = plan["train"]["tokens"]
    plan["bubble"] = plan["schedule"]["bubble_millionths"]
    for key in "device_memory_bytes", "device_reserved_bytes":
        plan[key] = plan["cluster"][key]
    del plan["flops"]  # of all ranks: no other command has it
    add_answer(numbers, "json", plan)
    add_memory(numbers, json.loads(run(
        foretrace, "memory", path, "--format=json"))["stages"],
        [stages_of(row) for row in plan["stages"]])
    for group in plan["parallel"]["groups"]:
        numbers.add("json", f"group {group['group']}", "ranks", group["size"])


def micro_batch(path):
    return int(re.search(r"micro_batch = (\d+)", open(path).read())[1])


def add_sweep(numbers, foretrace, path, folder, seed):
    """Metrics: of a rank the most of all stages."""
    database = f"{folder}/{seed}.db"
    run(foretrace, "sweep", path, "--sweep=train.micro_batch=" + str(micro_batch(path)), "-o",
        database)
    row = json.loads(run(foretrace, "sweep", "-o", database, "--format=json",
                         "--query", "SELECT * FROM points WHERE id = 0"))
    most = collections.defaultdict(int)
    for (of, name), values in numbers.said.items():
        if of.startswith("stages "):
            most[name] = max(most[name], *values)
    for key, value in row.items():
        name = key.replace("messages_", "messages ", 1)
        if name.startswith("messages "):
            name = name.replace("_", "-")
        if name in most:
            numbers.add("sweep", f"most of {name}", name, value)
            numbers.add("plan", f"most of {name}", name, most[name])
        elif key in ("peak", "fits", "cross_node", "bubble"):
            numbers.add("sweep", "job", name, value)


def add_diff(numbers, foretrace, path):
    """The sides of a comparison, of which the second has another batch."""
    said = subprocess.run(
        [foretrace, "diff", path, "--with=train.precision=fp32", "--format=json",
         "--quiet"],
        capture_output=True, text=True)
    for figure in json.loads(said.stdout).get("figures", ()):
        if figure["answer"] != "summary" or figure["before"] is None:
            continue
        if figure["table"] == "stages":
            add_stage(numbers, "diff", stages_of({"stages": figure["row"][0]}),
                      {figure["figure"]: figure["before"]})


def add_explained(numbers, foretrace, path):
    for what in "--memory", "--work":
        for line in run(foretrace, "explain", path, what,
                        "--format=json").splitlines():
            subject = json.loads(line)
            stages = subject["what"].split()[1].replace("..", "-")
            for figure in subject["figures"]:
                add_stage(numbers, "explain", stages_of({"stages": stages}),
                          {figure["what"].split()[0]: figure["value"]})


def one(foretrace, folder, seed):
    """What is wrong, or None."""
    draw = random.Random(seed)
    path, text, _, _ = on_cluster(
        foretrace, folder, seed, random_cluster, CLUSTER.replace(
            "  tiers", f"  device {{{{ memory = {draw.randint(1, 500)} MB }}}}\n  tiers"))
    path += ".fore"
    numbers = Numbers()
    for who, (command, *options) in COMMANDS.items():
        add_answer(numbers, who, json.loads(run(
            foretrace, command, path, *options, "--format=json")))
    add_plan(numbers, foretrace, path)
    add_explained(numbers, foretrace, path)
    add_diff(numbers, foretrace, path)
    add_sweep(numbers, foretrace, path, folder, seed)
    problems = numbers.problems()
    return "\n".join([f"seed {seed}:", *problems, text]) if problems else None


if __name__ == "__main__":
    each_job.main(one)
