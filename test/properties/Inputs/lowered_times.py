# SPDX-License-Identifier: Apache-2.0
"""The laws of collectives between domains are those of their messages: on random jobs of
devices with a network card each, which compute in no time and have no tp beside products, the messages of GOAL, run one
by one on links that nothing else uses, take as long as the estimates of all collectives
together.

usage: lowered_times.py SEED COUNT
"""

import goal
import tool

JOB = """model m {{ vocab = 2048  hidden = {hidden}  attention mha {{ heads = 4 }}
  block dense {{ ffn {{ intermediate = {ffn} }} }}
  block moe {{ experts = 8  topk = 2  ffn {{ intermediate = {ffn} }} }}
  layers = {layers} }}
train {{ sequence = {sequence}  micro_batch = 1  global_batch = {batch} }}
parallel {{ world = {world}  ep = {ep}  zero = {zero} }}
cluster {{ nodes = {world}  devices_per_node = 1  nics = 1  nic_bandwidth = {rate} GB/s
  device {{ name = "one"  profile = "h100"  peak_bf16 = {peak}  memory_bandwidth = {bandwidth} }}
  tiers {{ node {{ devices = 1  topology = "switch"  links = 1  bandwidth = 450e9  latency = 600 }}
          net {{ topology = "switch"  bandwidth = {rate}e9  latency = 3000 }} }} }}
"""

# One latency and one share of the rate for all laws.
LAWS = """cost estimate {{ kernels {{ links {{ ring_outer_us = {latency}  exchange_us = {latency}
  message_us = {latency}  nic_efficiency = {share}  nic_exchange = {share} }} }} }}
"""


def replay(path, gap, latency):
    """When the last rank is ready, in ns."""
    run = goal.Run(goal.read(path), gap, latency)
    assert not run.problem()
    return int(max(of.end for of in run.all))


def check(case):
    """The kinds of collectives that are there."""
    rng = case.draw
    has_experts = rng.random() < 0.5
    world = rng.choice([2, 4, 8])
    job = {"hidden": rng.choice([64, 256]), "ffn": rng.choice([128, 512]),
           "layers": f"{rng.choice([1, 3])} * {'moe' if has_experts else 'dense'}",
           "sequence": rng.choice([64, 256]), "world": world,
           "batch": world * rng.choice([1, 2]), "zero": rng.choice([0, 1]),
           "ep": min(world, 8) if has_experts else 1, "rate": rng.choice([25, 50]),
           "latency": rng.choice([2, 14]), "share": rng.choice([0.8, 1])}
    estimated = (JOB + LAWS).format(**job, peak="989e12", bandwidth="3350e9")
    messages = [row for row in tool.table("shapes", case.write(estimated)) if row["ranks"]]
    total = sum(int(row["count"]) * int(row["ns"]) for row in messages)
    plain = JOB.format(**job, peak="1e18", bandwidth="1e18") + "cost roofline { }\n"
    lowered = case.stem + ".goal"
    tool.run("compile", case.write(plain, ".plain.fore"), "--emit=goal", "-o", lowered, "--quiet")
    with_network = replay(lowered, 1 / (job["share"] * job["rate"]), 1000 * job["latency"])
    communicating = with_network - replay(lowered, 0, 0)
    # Each message may be rounded, and run beside kernels of a nanosecond each.
    slack = 2000 + sum(int(row["count"]) * int(row["ranks"]) * 2 for row in messages)
    slack = min(slack, total // 100)
    assert abs(communicating - total) <= slack, (communicating, total, slack)
    return {row["kernel"] for row in messages}


tool.cases(check)
