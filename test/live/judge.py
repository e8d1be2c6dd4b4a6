#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the communication of a job with the logged calls of a real run.

  judge.py FORETRACE LOGS_DIR [--release NAME] [--only WORD] [--details]

LOGS_DIR has VERSION/LAYOUT.csv.gz, a row for each call of torch.distributed in one
iteration, and layouts.tsv with the arguments of each layout. A job is imported as a user
does it: from a script with the launch command, or from a configuration of DeepSpeed. For
the first logged rank of each stage, three things are compared:

bytes   by group and collective with those of `volume`, and by type with `emit chakra`
counts  of calls by group and collective with `emit chakra`
order   of all calls of the rank, in order of issue, with their collective, ranks or peer,
        type and bytes, with the nodes of `emit chakra` in the order of the file, in which
        control dependences put all communication of a rank. Messages of one call
        (batch_isend_irecv, or an isend and an irecv of one function) have no order. The
        size of exchanges of tokens is not compared if it depends on the data.

Prints a line for each job that differs and a summary of each release; exits with 1 if a
job differs.
"""

import argparse
import collections
import concurrent.futures
import csv
import functools
import gzip
import itertools
import json
import os
import pathlib
import shlex
import subprocess
import sys
import tempfile
import typing

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
NO_CALLS = {"barrier", "all_gather_object", "broadcast_object_list"}
COLLECTIVES = {"all_gather_into_tensor": "all_gather", "all_to_all_single": "all_to_all",
               "reduce_scatter_tensor": "reduce_scatter", "batch_isend": "send",
               "isend": "send", "batch_irecv": "recv", "irecv": "recv"}
TYPES = {"float64": ("fp64", 8), "int64": ("i64", 8), "float32": ("fp32", 4),
         "int32": ("i32", 4), "bfloat16": ("bf16", 2), "float16": ("fp16", 2),
         "bool": ("bool", 1), "uint8": ("u8", 1), "int8": ("i8", 1)}
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


class Call(typing.NamedTuple):
    """A call of one rank. Ranks are those of the group, or the peer of a message."""
    collective: str
    ranks: str
    type: str
    bytes: int  # of the rank's input, or of the message

    @property
    def group(self):
        return "pp" if self.collective in ("send", "recv") else self.ranks

    def __str__(self):
        return f"{self.collective} {self.ranks}: {self.bytes} B {self.type}"


def in_order(calls):
    """Calls, of which (call, number) are given, with those of one number sorted."""
    return [call for _, same in itertools.groupby(calls, lambda of: of[1])
            for call, _ in sorted(same)]


def number_of(row, before, is_odd):
    """The number of the logged call of torch.distributed after `before`, which is
    (number, names of its rows so far, the last row). Without batches a call of an even
    stage sends first, and one of an odd stage receives first (Megatron-LM,
    p2p_communication.py, _p2p_ops)."""
    number, rows, last = before
    if row["collective"].startswith("batch_"):
        is_same = rows and last["collective"].startswith("batch_") and len(rows) < \
            int(last["extra"].split()[1])
    else:
        is_same = row["caller"] == last["caller"] and [*rows, row["collective"]] == \
            (["irecv", "isend"] if is_odd else ["isend", "irecv"])
    return (number, [*rows, row["collective"]], row) if is_same else \
        (number + 1, [row["collective"]], row)


def read_log(path):
    """Ranks of the job, and {rank: [call]} of the calls that a plan has."""
    world = 1
    ranks, before = collections.defaultdict(list), {}
    with gzip.open(path, "rt") as file:
        rows = list(csv.DictReader(file))
    # Some messages of two stages are in the group of all ranks.
    stages = {row["rank"]: row["group_ranks"].split().index(row["rank"])
              for row in sorted(rows, key=lambda row: -int(row["group_size"] or 1))
              if row["collective"] in ("isend", "irecv")}
    for row in rows:
        calls = ranks[int(row["rank"])]
        world = max(world, int(row["group_size"] or 1))
        if row["collective"] in NO_CALLS or int(row["group_size"]) < 2:
            continue
        collective = COLLECTIVES.get(row["collective"], row["collective"])
        elements = int(row["out_elements" if collective == "recv" else "in_elements"])
        whole = elements * (int(row["group_size"]) if collective == "all_gather" else 1)
        if is_control(row, whole):
            continue
        is_message = collective in ("send", "recv")
        number = before[row["rank"]] = number_of(
            row, before.get(row["rank"], (0, [], row)), stages.get(row["rank"], 0) % 2)
        name, size = TYPES[row["dtype"]]
        size *= elements
        if collective == "broadcast":  # as traces have it
            size += -size % int(row["group_size"])
        calls.append((Call(collective, row["peer" if is_message else "group_ranks"], name,
                           size), number[0]))
    return max(world, len(ranks)), {rank: in_order(calls) for rank, calls in ranks.items()}


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
    arguments = layout.get("imported") or layout["arguments"]  # of exports.py
    launch.write_text(script(layout["version"], world, arguments))
    run(foretrace, "import", "megatron", launch, "-o", job, "--quiet")
    return job


def groups_of(foretrace, job, ranks):
    """{rank: {group: ranks}}"""
    rows = [json.loads(row) for row in run(foretrace, "groups", job, "--format=json").splitlines()]
    groups = {rank: {} for rank in ranks}
    for row in rows:
        for rank in groups.keys() & row["ranks"]:
            groups[rank][row["group"]] = row["ranks"]
    return groups


def planned_calls(foretrace, job, world, ranks):
    """{rank: [call]} of the plan."""
    if world == 1:
        return {rank: [] for rank in ranks}
    folder = job.parent / "chakra"
    emit = job.with_name("emit.fore")
    emit.write_text(f'import "{job.name}"\nemit chakra {{ name = "x"  provenance = true\n'
                    f'ranks = "{",".join(map(str, ranks))}" }}\n')
    run(foretrace, "compile", emit, "-o", f"{folder}/", "--quiet")
    named = {}
    for path in folder.glob("*.groups.json"):
        named = json.loads(path.read_text())
    everyone = range(world)
    calls = {}
    for rank in ranks:
        own, number, last = [], 0, None
        for node in chakra.read(folder / f"x.{rank}.et")[1]:
            of = node.attributes
            is_message = node.kind in ("send", "receive")
            if node.kind == "compute" or is_message and not node.name.startswith(
                    ("send_", "recv_")):
                continue
            # Messages of one call follow each other, and do not wait for each other.
            number += last != node.id - 1 or last in node.control + node.data
            last = node.id if is_message else None
            if is_message:
                call = (node.name[:4], str(of["comm_dst" if node.kind == "send" else
                                              "comm_src"]))
            else:
                members = named.get(str(of["pg_name"]), everyone)
                call = of["collective"], " ".join(map(str, members))
            size = of["comm_size"]
            # Traces have broadcasts as gathers.
            own.append((Call(*call, of["type"], size * len(members) if
                             call[0] == "broadcast" else size), number))
        calls[rank] = in_order(own)
    return calls


def planned_bytes(foretrace, job):
    """{stage: {(group, collective): bytes}} of the plan."""
    planned = collections.defaultdict(dict)
    volume = json.loads(run(foretrace, "volume", job, "--format=json", "--quiet"))
    for row in volume["stages"]:
        first, last = row["stages"]
        for stage in range(first, last + 1):
            if row["collective"] not in NOT_LOGGED:
                planned[stage][row["group"], row["collective"]] = row["mean_message"]
    return planned


def total(calls, key, of=lambda call: 1):
    sums = collections.Counter()
    for call in calls:
        sums[key(call)] += of(call)
    return sums


def message_bytes(call):
    """As `volume` has them."""
    gathered = len(call.ranks.split()) if call.collective == "all_gather" else 1
    return call.bytes * gathered


class Stage:
    """Compares the calls of a rank of a stage."""

    def __init__(self, stage, log, plan, volume, groups, arguments, has_routing):
        self.log, self.stage = log, stage
        self.names = collections.defaultdict(set)
        self.volume = collections.Counter()
        for (group, collective), size in volume.items():
            ranks = "pp" if collective == "send" else " ".join(
                map(str, groups.get(group, [group])))
            self.names[ranks].add(group)
            if collective == "broadcast":
                size += -size % len(ranks.split())  # as traces have it
            self.volume[ranks, collective] += size
        is_routed = has_routing and "--num-experts" in arguments and \
            "--moe-pad-expert-input-to-capacity" not in arguments
        self.routed = {ranks for ranks, of in self.names.items() if is_routed and of & ROUTED}
        # Runs in fp16 overflow at first, and skip the update.
        updates = {(ranks, "all_gather") for ranks, of in self.names.items()
                   if "--fp16" in arguments and any("dp" in name for name in of)}
        updates -= {(call.ranks, call.collective) for call in log}
        self.plan = [call for call in plan if (call.ranks, call.collective) not in updates]
        for update in updates:
            del self.volume[update]

    def differences(self, real, plan, unit, has_tolerance):
        for key in sorted(set(real) | set(plan)):
            ranks, *what = key
            tolerance = ROUTED_TOLERANCE * plan[key] if \
                has_tolerance and ranks in self.routed else 0
            if abs(real[key] - plan[key]) > tolerance:
                name = "/".join(sorted(self.names[ranks])) or ranks
                yield (f"stage {self.stage} {name} {' '.join(what)} {real[key]} {unit}, "
                       f"plan {plan[key]}")

    def bytes(self):
        sent = [call for call in self.log if call.collective != "recv"]
        yield from self.differences(
            total(sent, lambda call: (call.group, call.collective), message_bytes),
            self.volume, "B", True)
        by_type = lambda call: (call.group, call.collective, call.type)  # noqa: E731
        size = lambda call: call.bytes  # noqa: E731
        yield from self.differences(total(self.log, by_type, size),
                                    total(self.plan, by_type, size), "B of input", True)

    def counts(self):
        key = lambda call: (call.group, call.collective)  # noqa: E731
        return self.differences(total(self.log, key), total(self.plan, key), "calls", False)

    def order(self):
        def known(call):
            return call._replace(bytes=0) if call.ranks in self.routed else call
        for at, (real, plan) in enumerate(itertools.zip_longest(self.log, self.plan)):
            if not real or not plan or known(real) != known(plan):
                yield f"stage {self.stage} call {at} is {real}, plan {plan}"
                return


def compare(foretrace, root, layout):
    """(bytes, counts, order) that differ of one job, as texts."""
    folder = "" if (root / layout["version"]).is_dir() else "megatron"
    world, log = read_log(
        root / folder / layout["version"] / (layout["layout"] + ".csv.gz"))
    with tempfile.TemporaryDirectory() as folder:
        job = write_job(foretrace, layout, world, pathlib.Path(folder))
        volume = planned_bytes(foretrace, job)
        groups, of_stage = groups_of(foretrace, job, log), {}
        for rank in sorted(log):
            members = groups[rank].get("pp", [rank])
            of_stage.setdefault(members.index(rank), rank)
        plan = planned_calls(foretrace, job, world, sorted(of_stage.values()))
    stages = [Stage(stage, log[rank], plan[rank], volume[stage], groups[rank],
                    layout["arguments"], "world" not in layout)
              for stage, rank in sorted(of_stage.items())]
    return tuple([text for stage in stages for text in of(stage)]
                 for of in (Stage.bytes, Stage.counts, Stage.order))


def judge(foretrace, root, layout):
    try:
        return (layout, *compare(foretrace, root, layout))
    except RuntimeError as why:
        return layout, [str(why)], [], []


def read_table(path, delimiter=","):
    with open(path, encoding="utf-8") as file:
        return list(csv.DictReader(file, delimiter=delimiter))


def print_differences(layout, found, with_details):
    """Prints the differences of a job, or the first one and how many more there are."""
    texts = [text for of in found for text in of]
    if texts:
        more = f" (and {len(texts) - 1} more)" if len(texts) > 1 else ""
        print(f"{layout['version']}/{layout['layout']}: "
              + ("; ".join(texts) if with_details else texts[0] + more))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("foretrace")
    parser.add_argument("logs", type=pathlib.Path)
    parser.add_argument("--release", help="compare logs of this folder only")
    parser.add_argument("--only", default="", help="compare layouts with this in their names")
    parser.add_argument("--details", action="store_true", help="print every difference")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    args = parser.parse_args()
    layouts = [row for row in read_table(args.logs / "layouts.tsv", "\t")
               if args.release in (None, row["version"]) and args.only in row["layout"]]
    totals = collections.defaultdict(lambda: [0] * 4)
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for layout, *found in pool.map(
                lambda layout: judge(args.foretrace, args.logs, layout), layouts):
            total_of = totals[layout["version"]]
            total_of[0] += 1
            for last in range(3):
                total_of[last + 1] += not any(found[:last + 1])
            print_differences(layout, found, args.details)
    totals["all"] = [sum(column) for column in zip(*totals.values())]
    for version, (jobs, equal, counted, ordered) in totals.items():
        print(f"{version}: {jobs} jobs, {equal} equal in bytes, "
              f"{counted} in bytes and counts, {ordered} in bytes, counts and order")
    return 1 if totals["all"][3] < totals["all"][0] else 0


if __name__ == "__main__":
    sys.exit(main())
