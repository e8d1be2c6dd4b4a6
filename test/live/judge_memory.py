#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the memory of a job with the counted tensors of a real run.

  judge_memory.py FORETRACE LOGS_DIR [--only WORD] [--details]

LOGS_DIR has layouts.tsv with the arguments of each layout, and memory.csv with the bytes of
each rank and chunk (count_memory.py). A job is imported as judge.py does it. Compared are:

weights    of a stage, summed over its ranks, with those of `emit json`
gradients  the same
optimizer  the same. ZeRO 1 splits buffers and the plan splits each tensor, so the plan may
           be up to one byte larger for each tensor and rank
saved      bytes of the first micro-batch of each chunk, on the first rank of a stage, with
           those of the blocks and of the rules for local layers (local_layers.py). Jobs
           without rules are not compared.

Jobs of which only some ranks ran are left out.

Prints a line for each job that differs and a summary of each release; exits with 1 if a job
differs.
"""

import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import sys
import tempfile

import judge
import local_layers
import tool

STATIC = ("weights", "gradients", "optimizer")
# Most tensors of a layer.
TENSORS = 20


def planned(foretrace, layout):
    """Returns the plan, and the stage of each rank."""
    world = int(layout["world"])
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        job = judge.write_job(foretrace, layout, world, folder)
        folder.joinpath("emit.fore").write_text(f'import "{job.name}"\nemit json {{ }}\n')
        judge.run(foretrace, "compile", folder / "emit.fore", "-o", f"{folder}/", "--quiet")
        plan = json.loads(folder.joinpath("emit.json").read_text())
        groups = judge.groups_of(foretrace, job, range(world))
        return plan, {rank: of.get("pp", [rank]).index(rank) for rank, of in groups.items()}


def static_differences(plan, stage_of, rows):
    real, ranks = collections.Counter(), collections.Counter(stage_of.values())
    for row in rows:
        for kind in STATIC:
            real[kind, stage_of[int(row["rank"])]] += int(row[kind])
    layers = sum(block["layers"] for block in plan["blocks"])
    for planned_of in plan["stages"]:
        for stage in tool.each(planned_of["stages"]):
            for kind in STATIC:
                more = planned_of[kind] * ranks[stage] - real[kind, stage]
                most = TENSORS * layers * ranks[stage] if kind == "optimizer" else 0
                if not 0 <= more <= most:
                    yield kind, (f"stage {stage} {kind} {real[kind, stage] / ranks[stage]:g} "
                                 f"B, plan {planned_of[kind]}")


def layers_of(chunk, blocks):
    """Lists the number, name and recomputation of the blocks of a chunk."""
    for term in chunk["layers"].split(" + "):
        number, _, name = term.rpartition(" ")
        yield int(number or 1), name, blocks[name].get("recompute")


def saved_differences(layout, plan, stage_of, rows):
    blocks = {block["block"]: block for block in plan["blocks"]}
    real = {}
    for row in rows:
        key = stage_of[int(row["rank"])], int(row["chunk"])
        real.setdefault(key, int(row["saved"]))
    for chunks in plan["chunks"]:
        layers = list(layers_of(chunks, blocks))
        kept = sum(number * blocks[name]["kept"] for number, name, _ in layers)
        for stage in tool.each(chunks["stages"]):
            rules = local_layers.saved(layout, stage, layers)
            for chunk in tool.each(chunks["chunks"]):
                more = real[stage, chunk] - kept - sum(rules.values())
                if more:
                    named = ", ".join(f"{name} {size}" for name, size in rules.items() if size)
                    yield "saved", (f"stage {stage} chunk {chunk} ({chunks['layers']}) saves "
                                    f"{real[stage, chunk]} B, plan {kept}, rules {named}: "
                                    f"{more} more")


def compare(foretrace, layout, rows):
    """Differences of a job by kind."""
    found = collections.defaultdict(list)
    try:
        plan, stage_of = planned(foretrace, layout)
    except RuntimeError as why:
        return {kind: [str(why)] for kind in (*STATIC, "saved")}
    for kind, text in static_differences(plan, stage_of, rows):
        found[kind].append(text)
    if local_layers.has_rules(layout):
        for kind, text in saved_differences(layout, plan, stage_of, rows):
            found[kind].append(text)
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("foretrace")
    parser.add_argument("logs", type=pathlib.Path)
    parser.add_argument("--only", default="", help="compare layouts with this in their names")
    parser.add_argument("--details", action="store_true", help="print every difference")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    args = parser.parse_args()
    rows = collections.defaultdict(list)
    for row in judge.read_table(args.logs / "memory.csv"):
        rows[row["version"], row["layout"]].append(row)
    layouts = [layout for layout in judge.read_table(args.logs / "layouts.tsv", "\t")
               if args.only in layout["layout"] and layout["ranks"] == "all"
               and rows[layout["version"], layout["layout"]]]
    totals = collections.defaultdict(collections.Counter)
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for layout, found in zip(layouts, pool.map(lambda layout: compare(
                args.foretrace, layout, rows[layout["version"], layout["layout"]]), layouts)):
            has_rules = local_layers.has_rules(layout)
            for key in (layout["version"], "all"):
                totals[key].update(
                    jobs=1, ruled=int(has_rules), equal=int(not any(found.values())),
                    saved=int(has_rules and not found["saved"]),
                    **{kind: int(not found[kind]) for kind in STATIC})
            judge.print_differences(layout, found.values(), args.details)
    for version in sorted(totals, key=lambda version: (version == "all", version)):
        of = totals[version]
        print(f"{version}: {of['jobs']} jobs, equal in weights {of['weights']}, gradients "
              f"{of['gradients']}, optimizer {of['optimizer']}; in saved bytes {of['saved']} "
              f"of {of['ruled']}")
    return 1 if totals["all"]["equal"] < totals["all"]["jobs"] else 0


if __name__ == "__main__":
    sys.exit(main())
