#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: check_fused.py FORETRACE SEED COUNT

Simulates the Chakra traces of random jobs, with and without `fuse = true`, by
ASTRA-sim's rules: a rank computes and communicates one node at a time. All
communication begins and ends at the same times, and the rank finishes at the same
time, but for the rounding of durations to microseconds."""

import json
import os
import subprocess

import chakra
import each_job
import unfold_ranks

MICRO = 1000  # ns
LATENCY, BYTES_OF_NS = 700, 50


class Simulation:
    """Runs ranks against each other; keeps when each communication ends."""

    def __init__(self, traces, groups, ranks):
        self.groups, self.ranks = groups, ranks
        self.ends = [{} for _ in traces]  # by node
        self.traces = [{node.id: node for node in nodes} for nodes in traces]
        self.compute = [0.0] * len(traces)
        self.slot = [0.0] * len(traces)
        self.sent, self.meetings = {}, {}
        self.issued = [{} for _ in traces]

    def ready(self, rank, node):
        """When all that a node waits for has ended, or None."""
        before = [self.ends[rank].get(other)
                  for other in node.control + node.data]
        return None if None in before else max(before, default=0.0)

    def step(self, rank, node, start):
        has, ends = node.attributes, self.ends[rank]
        if node.kind == "compute":
            start = max(start, self.compute[rank])
            ends[node.id] = self.compute[rank] = start + MICRO * node.duration
        elif node.kind == "send":
            start = max(start, self.slot[rank])
            key = rank, has["comm_dst"], has["comm_tag"]
            ends[node.id] = self.slot[rank] = self.sent[key] = (
                start + LATENCY + has["comm_size"] / BYTES_OF_NS)
        elif node.kind == "receive":
            sent = self.sent.get((has["comm_src"], rank, has["comm_tag"]))
            if sent is None:
                return False
            ends[node.id] = max(start, sent)
        else:
            return self.meet(rank, node, max(start, self.slot[rank]))
        return True

    def meet(self, rank, node, start):
        name, issued = node.attributes["pg_name"], self.issued[rank]
        if node.id not in issued:
            issued[node.id] = name, sum(
                1 for other, _ in issued.values() if other == name)
        come = self.meetings.setdefault(issued[node.id], {})
        come[rank] = start, node.id
        members = range(self.ranks) if name == "0" else self.groups[name]
        if len(come) < len(members):
            return False
        end = (max(start for start, _ in come.values()) + LATENCY
               + node.attributes["comm_size"] / BYTES_OF_NS)
        for other, (_, other_id) in come.items():
            self.ends[other][other_id] = self.slot[other] = end
        return True

    def run(self):
        """The ends of communication by rank, and of ranks."""
        left = [sorted(nodes) for nodes in self.traces]
        moved = True
        while moved:
            moved = False
            for rank, ids in enumerate(left):
                blocked = set()  # who comes first among the ready has the slot
                for number in list(ids):
                    node = self.traces[rank][number]
                    if number in self.ends[rank]:
                        ids.remove(number)
                        moved = True
                        continue
                    slot = node.kind
                    if slot in ("send", "collective"):
                        slot = "communicate"
                    if slot in blocked and slot != "receive":
                        continue
                    start = self.ready(rank, node)
                    if start is not None and self.step(rank, node, start):
                        ids.remove(number)
                        moved = True
                    elif slot != "receive":
                        blocked.add(slot)
        assert not any(left), "some wait for ever"
        return ([[ends[n] for n, node in sorted(nodes.items())
                  if node.kind != "compute"]
                 for ends, nodes in zip(self.ends, self.traces)],
                [max(ends.values()) for ends in self.ends])


def simulate(foretrace, path, block):
    name = os.path.basename(path)
    with open(path + ".fore") as file:
        text = file.read()
    job = path + ".of.fore"
    with open(job, "w") as file:
        file.write(text + "cost roofline { device { peak_flops = 1e11  "
                   "memory_bandwidth = 1e11 } }\n" + block)
    folder = path + ".of"
    subprocess.run([foretrace, "compile", job, "--quiet", "-o", folder + "/"],
                   capture_output=True, text=True, check=True)
    with open(os.path.join(folder, name + ".of.groups.json")) as file:
        groups = json.load(file)
    ranks = len([f for f in os.listdir(folder) if f.endswith(".et")])
    traces = [list(chakra.read(os.path.join(
        folder, f"{name}.of.{rank}.et"))[1]) for rank in range(ranks)]
    return sum(map(len, traces)), *Simulation(traces, groups, ranks).run()


def one(foretrace, folder, seed):
    _, path, text, ir = unfold_ranks.random_ranks(foretrace, folder, seed)
    if unfold_ranks.Job(ir).ranks == 1:
        return None
    nodes, messages, ends = simulate(foretrace, path, "emit chakra { }\n")
    fewer, fused, fused_ends = simulate(
        foretrace, path, "emit chakra { fuse = true }\n")
    if fewer >= nodes:
        return f"seed {seed}: {fewer} of {nodes} nodes\n{text}"
    for a, b in zip(messages + [ends], fused + [fused_ends]):
        if len(a) != len(b) or any(
                abs(x - y) > MICRO / 2 for x, y in zip(a, b)):
            return f"seed {seed}: {a}, not {b}\n{text}"
    return None


if __name__ == "__main__":
    each_job.main(one)
