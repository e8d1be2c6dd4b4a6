# SPDX-License-Identifier: Apache-2.0
"""usage: time.py SEED COUNT

Laws of the time of an iteration, on random jobs:

* it is what running the schedule step by step takes, and then updating;
* its parts sum to it, and so do work, update and idle time of each stage, and the lines
  and stages of the critical path;
* the critical path is what one finds by walking back through the steps of the schedule;
* it is no less than with the rates of the data sheet alone;
* more bandwidth, a higher peak, and overlap never make it longer;
* kernels of all layers, launched one by one by a slow host that experts make wait, take
  what a stage's forward and backward steps do;
* a device alone has no collectives, and twice the micro-batches take twice as long,
  but for the update.
"""

import json
import re

import tool

JOB = """import "clusters/{cluster}.toml" as pod
model m {{ vocab = 32Ki  hidden = {hidden}  norm = rmsnorm
  attention gqa {{ heads = {heads}  kv_heads = {kv_heads} }}
  block dense {{ ffn {{ intermediate = {ffn}  activation = swiglu }} }}
  block moe {{ experts = 8  topk = 2  ffn {{ intermediate = {ffn} }}  dispatcher = {dispatcher} }}
  layers = {layers} }}
train {{ sequence = 2Ki  micro_batch = {mbs}  global_batch = {batch}  recompute = {recompute} }}
parallel {{ world = {world}  tp = {tp}  sequence_parallel = {sp}  cp = {cp}  cp_comm = {cp_comm}
  pp = {pp}  vpp = {vpp}  ep = {ep}  etp = 1  zero = {zero}  {more} }}
cluster : pod {{ nodes = {nodes}  {machine} }}
emit schedule {{ file = "steps.json"  format = json  time = cost }}
"""

OVERLAP = ("overlap_grad_reduce = true  overlap_param_gather = true  "
           "tp_comm_overlap = true")


def text_of(job, **changes):
    return JOB.format(**{**job, **changes})


def time_of(job, **changes):
    return tool.document("time", "-", input=text_of(job, **changes))


def schedule_of(job, **changes):
    return json.loads(tool.run("compile", "-", "--emit=schedule", "--stdout",
                               input=text_of(job, **changes)))


def random_job(rng):
    tp, cp, pp = rng.choice([1, 2, 4]), rng.choice([1, 2]), rng.choice([1, 2, 4])
    dp = rng.choice([1, 2, 4])
    vpp = rng.choice([1, 2]) if pp > 1 else 1
    world = tp * cp * pp * dp
    has_experts = rng.random() < 0.3
    zero = rng.choice([0, 1]) if pp > 1 else rng.choice([0, 1, 2, 3])
    mbs = rng.choice([1, 2])
    ga = pp * rng.choice([1, 2, 3, 48]) if vpp > 1 else rng.choice([1, 3, 8])
    heads = rng.choice([16, 32])
    return {
        "cluster": rng.choice(["h100", "a100", "gb200-nvl72"]), "machine": "",
        "hidden": 128 * heads, "heads": heads, "kv_heads": 8, "ffn": rng.choice([4096, 8192]),
        "dispatcher": rng.choice(["alltoall", "flex"]),
        "layers": f"{pp * vpp * rng.choice([1, 2])} * {'moe' if has_experts else 'dense'}",
        "mbs": mbs, "batch": mbs * ga * dp, "recompute": rng.choice(["none", "full"]),
        "world": world, "nodes": world, "tp": tp, "sp": "true" if tp > 1 else "false",
        "cp": cp, "cp_comm": rng.choice(["all_gather", "p2p"]) if cp > 1 else "all_gather",
        "pp": pp, "vpp": vpp, "zero": zero,
        "ep": rng.choice([1, dp]) if has_experts else 1, "more": "",
    }


def check_engine(job, of):
    """The schedule, run step by step (ir/schedule/Timeline.h)."""
    run = schedule_of(job)
    ends = [stage["end"] for stage in run["stages"]]
    updates = []
    for stage in of["stages"]:
        updates += [stage["update_time"]] * len(tool.each(stage["stages"]))
    total = max(end + update for end, update in zip(ends, updates))
    assert total == of["time"], (total, of["time"])
    if run["micro_batches"] <= 12:
        check_path(run["stages"], updates, of)


def check_path(stages, updates, of):
    """From the end, through the step that a step waits for; rather one of its stage."""
    made = {(step["action"], step["micro_batch"], step["part"]): (stage, index)
            for stage, one in enumerate(stages) for index, step in enumerate(one["actions"])}
    stage = max(range(len(stages)), key=lambda s: stages[s]["end"] + updates[s])
    times = [0] * len(stages)
    times[stage] += updates[stage]
    index = len(stages[stage]["actions"]) - 1
    while True:
        step = stages[stage]["actions"][index]
        times[stage] += step["end"] - step["start"]
        if step["start"] == 0:
            break
        if index > 0 and stages[stage]["actions"][index - 1]["end"] == step["start"]:
            index -= 1
            continue
        is_forward = step["action"] == "forward_step"
        stage, index = made[step["action"], step["micro_batch"],
                            step["part"] + (-1 if is_forward else 1)]
        times[stage] += step["start"] - stages[stage]["actions"][index]["end"]
    for one in of["stages"]:
        assert sum(times[stage] for stage in tool.each(one["stages"])) == one["critical_time"], (times, of)


OP = re.compile(r"^  %.* = (\w+)\S* @.* time\((\d+) ns\)(?:.* hidden\((\d+) ns\))?")
BLOCK = re.compile(r"^block (\S+) {")
COLLECTIVES = {"all_reduce", "all_gather", "reduce_scatter", "all_to_all", "ring", "broadcast"}


def run_kernels(lines, launch, copies, state):
    """Host and device, when each is free, after the ops of a layer in one direction."""
    host, device, exchanged = *state, False
    for line in lines:
        kind, time, hidden = OP.match(line).groups()
        if time == "0":
            continue
        if kind == "all_to_all":
            if not exchanged and not copies and " backward" not in line:
                host = max(host, device)
            exchanged = True
        host += 0 if kind in COLLECTIVES else launch
        device = max(host, device) + int(time) - int(hidden or 0)
    return host, device


def check_host(job, launch):
    """Steps of a single stage, kernel by kernel."""
    job = {**job, "more": "", "machine": " } cost estimate { kernels { host "
           f"{{ launch_us = {launch} }} }} "}
    of = time_of(job)
    blocks, name = {}, None
    for line in tool.ir("-", input=text_of(job)).splitlines():
        if match := BLOCK.match(line):
            name = match.group(1)
            blocks[name] = []
        elif name and OP.match(line):
            blocks[name].append(line)
    count, _, layer = job["layers"].partition(" * ")
    order = ["embedding", *[layer] * int(count), "head"]
    copies = job["dispatcher"] == "flex"
    for step, is_backward in (("forward", False), ("backward", True)):
        state = (0, 0)
        for block in reversed(order) if is_backward else order:
            lines = [line for line in blocks[block]
                     if (" backward" in line or " recompute" in line) == is_backward]
            state = run_kernels(lines, 1000 * launch, copies, state)
        assert max(state) == of["stages"][0][f"{step}_time"], (job, step, state, of["stages"])


def check_sums(of):
    total = of["time"]
    assert sum(part["time"] for part in of["parts"]) == total, of
    assert sum(line["time"] for line in of["lines"]) == total, of
    assert sum(stage["critical_time"] for stage in of["stages"]) == total, of
    for stage in of["stages"]:
        assert stage["steps_time"] + stage["update_time"] + stage["idle_time"] == total, stage
        assert stage["idle_time"] >= 0, stage


def check(case):
    rng = case.draw
    job = random_job(rng)
    case.write(text_of(job))
    of = time_of(job)
    total = of["time"]
    check_engine(job, of)
    check_sums(of)
    overlapped = OVERLAP if job["sp"] == "true" else OVERLAP.rpartition("  ")[0]
    for more in ({"more": overlapped},
                 {"machine": "nic_bandwidth = 400 GB/s"},
                 {"machine": "device { memory_bandwidth = 16000 GB/s }"},
                 {"machine": "device { peak_bf16 = 9000e12 }"}):
        faster = time_of(job, **more)
        check_sums(faster)
        assert faster["time"] <= total, (more, total, faster)
    # At the rates of the data sheet, without communication and update.
    bound = schedule_of(job, machine=job["machine"] + " } cost roofline {")
    least = max(stage["work"] for stage in bound["stages"])
    assert least <= total, (least, total)
    if job["pp"] == 1:
        check_host(job, rng.choice([1, 5, 25, 125, 600]))
    alone = {**job, "world": 1, "nodes": 1, "tp": 1, "sp": "false", "cp": 1,
             "cp_comm": "all_gather", "pp": 1, "vpp": 1, "ep": 1, "zero": 0,
             "batch": 2 * job["mbs"]}
    once, twice = time_of(alone), time_of(alone, batch=4 * job["mbs"])
    for one in once, twice:
        assert not any(" over " in part["part"] for part in one["parts"]), one
    (first,), (second,) = once["stages"], twice["stages"]
    assert second["steps_time"] == 2 * first["steps_time"], (first, second)
    assert second["update_time"] == first["update_time"], (first, second)


tool.cases(check)
