#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the communication of a job with the logged calls of a real run.

  judge.py FORETRACE LOGS_DIR [--release NAME] [--only WORD] [--rows FILE]

LOGS_DIR has VERSION/LAYOUT.csv.gz, a row for each call of torch.distributed in one
iteration, and layouts.tsv with the arguments of each layout. A job is imported as a user
does it: from a script with the launch command, or from a configuration of DeepSpeed. For
the first logged rank of each stage, bytes by group and collective are those of `volume`,
and counts those of `emit chakra`. Prints a line for each job that differs and a summary
of each release; exits with 1 if a job differs.
"""

import argparse
import collections
import concurrent.futures
import csv
import functools
import gzip
import json
import os
import pathlib
import shlex
import subprocess
import sys
import tempfile

sys.path.append(str(pathlib.Path(__file__).parents[1] / "support"))
import chakra  # noqa: E402
import torch_jobs  # noqa: E402

# Calls that no plan has, by the function that makes them: a few numbers each, for the
# gradient norm, overflows, logged losses and statistics, timers and reruns.
CONTROL = {
    "calc_params_l2_norm", "_sum_reduce", "clip_grad_norm_", "count_zeros_fp32",
    "get_grad_norm_fp32", "_unscale_main_grads_and_check_for_nan",
    "reduce_max_stat_across_model_parallel_group", "logical_and_across_model_parallel_group",
    "_get_elapsed_time_all_ranks", "_sync_metrics", "reduce_aux_losses_tracker_across_ranks",
    "reduce_loss_in_tracker", "reduce_metrics_in_tracker", "_reduce_any",
    "should_run_forward_backward", "train_step"}
# The same of functions that also make other calls: loss for the log (up to core 0.12 in
# the forward pass), lengths of packed sequences (core 0.16), norms and flags of DeepSpeed.
# Calls after the last iteration are in the phase `between`.
SMALL_CONTROL = {"forward_step", "_broadcast_cu_seqlens", "all_reduce"}
# A receive is the other end of a send.
NO_CALLS = {"recv", "irecv", "batch_irecv", "barrier", "all_gather_object",
            "broadcast_object_list"}
COLLECTIVES = {"all_gather_into_tensor": "all_gather", "all_to_all_single": "all_to_all",
               "reduce_scatter_tensor": "reduce_scatter", "batch_isend": "send",
               "isend": "send"}
BYTES = {"float64": 8, "int64": 8, "float32": 4, "int32": 4, "bfloat16": 2, "float16": 2,
         "bool": 1, "uint8": 1, "int8": 1}
CHAKRA = {0: "all_reduce", 2: "all_gather", 6: "all_to_all", 7: "reduce_scatter"}
# Logs do not have the ring of attention over cp, which is Transformer Engine's.
NOT_LOGGED = {"ring"}
# Without padding to a capacity, what experts receive depends on the data, except in logs of
# run.sh, which has a column `world`.
ROUTED = {"ep", "etp", "etp-ep"}
ROUTED_TOLERANCE = 0.1


def is_control(row, elements):
    callers = [name.split(".")[-1] for name in row["caller"].split(" < ")]
    return (row["phase"] == "between" or callers[0] in CONTROL or
            elements <= 2 and not SMALL_CONTROL.isdisjoint(callers))


def read_log(path):
    """Ranks of the job, and {rank: {(group, collective): [bytes, count]}} of the calls
    that a plan has."""
    world = 1
    ranks = collections.defaultdict(lambda: collections.defaultdict(lambda: [0, 0]))
    with gzip.open(path, "rt") as file:
        for row in csv.DictReader(file):
            calls = ranks[int(row["rank"])]
            world = max(world, int(row["group_size"] or 1))
            if row["collective"] in NO_CALLS or int(row["group_size"]) < 2:
                continue
            collective = COLLECTIVES.get(row["collective"], row["collective"])
            elements = int(row["in_elements"])
            if collective == "all_gather":
                elements *= int(row["group_size"])
            if is_control(row, elements):
                continue
            group = "pp" if collective == "send" else row["group_ranks"]
            call = calls[group, collective]
            call[0] += elements * BYTES[row["dtype"]]
            call[1] += 1
    return max(world, len(ranks)), ranks


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        errors = [l for l in done.stderr.splitlines() if "error" in l]
        raise RuntimeError((errors or [done.stderr.strip() or "failed"])[0])
    return done.stdout


def script(version, world, arguments):
    """A launch script, whose path of Megatron-LM has its release."""
    release = version.split("v")[-1].rsplit(".", 1)[0]
    nodes = world // 8 if world % 8 == 0 else 1
    return (f"export PYTHONPATH=/opt/Megatron-LM-core_r{release}.0\n"
            f"torchrun --nproc-per-node {world // nodes} --nnodes {nodes} "
            f"pretrain_gpt.py {' '.join(map(shlex.quote, arguments.split()))}\n")


def write_job(foretrace, layout, world, folder):
    """The job of a layout, as `import` makes it."""
    job = folder / "job.fore"
    if layout["version"] == "torch":
        job.write_text(torch_jobs.job_of(layout["arguments"], folder,
                                         functools.partial(run, foretrace)))
        return job
    launch = folder / "run.sh"
    launch.write_text(script(layout["version"], world, layout["arguments"]))
    run(foretrace, "import", "megatron", launch, "-o", job, "--quiet")
    return job


def groups_of(foretrace, job, rank):
    rows = run(foretrace, "groups", job, f"--rank={rank}", "--format=json")
    return {row["group"]: row["ranks"] for row in map(json.loads, rows.splitlines())}


def ranks_text(group, collective, groups):
    return "pp" if collective == "send" else " ".join(map(str, groups.get(group, [group])))


def count_calls(foretrace, job, world, ranks):
    """{rank: {(group, collective): count}} of the plan; "" is the group of all ranks."""
    if world == 1:
        return {rank: collections.Counter() for rank in ranks}
    folder = job.parent / "chakra"
    emit = job.with_name("emit.fore")
    emit.write_text(f'import "{job.name}"\nemit chakra {{ name = "x"  ranks = "'
                    + ",".join(map(str, ranks)) + '" }\n')
    run(foretrace, "compile", emit, "-o", f"{folder}/", "--quiet")
    named = {}
    for path in folder.glob("*.groups.json"):
        named = json.loads(path.read_text())
    counts = {rank: collections.Counter() for rank in ranks}
    for rank in ranks:
        for node in chakra.read(folder / f"x.{rank}.et")[1]:
            if node.kind == "send" and node.name.startswith("send_"):
                counts[rank]["pp", "send"] += 1
            elif node.kind == "collective":
                of = named.get(str(node.attributes.get("pg_name")), [])
                counts[rank][" ".join(map(str, of)), CHAKRA[node.attributes["comm_type"]]] += 1
    return counts


def compare(foretrace, root, layout):
    """(bytes differ, counts differ) as texts of one job."""
    folder = "" if (root / layout["version"]).is_dir() else "megatron"
    world, log = read_log(
        root / folder / layout["version"] / (layout["layout"] + ".csv.gz"))
    with tempfile.TemporaryDirectory() as folder:
        job = write_job(foretrace, layout, world, pathlib.Path(folder))
        volume = json.loads(run(foretrace, "volume", job, "--format=json", "--quiet"))
        planned = collections.defaultdict(dict)
        for row in volume["stages"]:
            first, last = row["stages"]
            for stage in range(first, last + 1):
                if row["collective"] not in NOT_LOGGED:
                    planned[stage][row["group"], row["collective"]] = row["mean_message"]
        groups, of_stage = {}, {}
        for rank in sorted(log):
            groups[rank] = groups_of(foretrace, job, rank)
            members = groups[rank].get("pp", [rank])
            of_stage.setdefault(members.index(rank), rank)
        counts = count_calls(foretrace, job, world, sorted(of_stage.values()))
    of_bytes, of_counts = [], []
    is_routed = "world" not in layout and "--num-experts" in layout["arguments"] and \
        "--moe-pad-expert-input-to-capacity" not in layout["arguments"]
    everyone = " ".join(map(str, range(world)))
    for stage, rank in sorted(of_stage.items()):
        plan, names = collections.Counter(), collections.defaultdict(set)
        for (group, collective), size in planned[stage].items():
            ranks = ranks_text(group, collective, groups[rank])
            plan[ranks, collective] += size
            names[ranks].add(group)
        for key in sorted(set(log[rank]) | set(plan)):
            ranks, collective = key
            name = f"stage {stage} {'/'.join(sorted(names[ranks])) or ranks} {collective}"
            real, _ = log[rank].get(key, (0, 0))
            tolerance = ROUTED_TOLERANCE * plan[key] \
                if is_routed and names[ranks] & ROUTED else 0
            # Runs in fp16 overflow at first, and skip the update.
            is_skipped = "--fp16" in layout["arguments"] and collective == "all_gather" \
                and "dp" in name and not real
            if is_skipped:
                del counts[rank]["" if ranks == everyone else ranks, collective]
            elif abs(real - plan[key]) > tolerance:
                of_bytes.append(f"{name} {real} B, plan {plan[key]}")
        seen = collections.Counter()
        for (ranks, collective), (_, calls) in log[rank].items():
            # Chakra traces have no broadcasts: they are gathers.
            collective = "all_gather" if collective == "broadcast" else collective
            seen["" if ranks == everyone else ranks, collective] += calls
        for key in sorted(set(seen) | set(counts[rank])):
            if seen[key] != counts[rank][key]:
                name = "/".join(sorted(names[key[0] or everyone])) or key[0]
                of_counts.append(f"stage {stage} {name} {key[1]} {seen[key]} calls, "
                                 f"plan {counts[rank][key]}")
    return of_bytes, of_counts


def judge(foretrace, root, layout):
    try:
        return (layout, *compare(foretrace, root, layout))
    except RuntimeError as why:
        return layout, [str(why)], []


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("foretrace")
    parser.add_argument("logs", type=pathlib.Path)
    parser.add_argument("--release", help="compare logs of this folder only")
    parser.add_argument("--only", default="", help="compare layouts with this in their names")
    parser.add_argument("--details", action="store_true", help="print every difference")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    args = parser.parse_args()
    with open(args.logs / "layouts.tsv") as file:
        layouts = [row for row in csv.DictReader(file, delimiter="\t")
                   if args.release in (None, row["version"]) and args.only in row["layout"]]
    totals = collections.defaultdict(lambda: [0, 0, 0])
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for layout, of_bytes, of_counts in pool.map(
                lambda layout: judge(args.foretrace, args.logs, layout), layouts):
            total = totals[layout["version"]]
            total[0] += 1
            total[1] += not of_bytes
            total[2] += not of_bytes and not of_counts
            found = of_bytes or of_counts
            if found:
                more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
                print(f"{layout['version']}/{layout['layout']}: "
                      + ("; ".join(of_bytes + of_counts) if args.details
                         else found[0] + more))
    totals["all"] = [sum(column) for column in zip(*totals.values())]
    for version, (jobs, equal, counted) in totals.items():
        print(f"{version}: {jobs} jobs, {equal} equal in bytes, "
              f"{counted} in bytes and counts")
    return 1 if totals["all"][2] < totals["all"][0] else 0


if __name__ == "__main__":
    sys.exit(main())
