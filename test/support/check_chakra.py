# SPDX-License-Identifier: Apache-2.0
"""usage: check_chakra.py FORETRACE SEED COUNT

Traces of random jobs against what unfold_ranks.py makes of the text of their IR:
every rank has the same messages and collectives, with the same members and
bytes. And against ASTRA-sim's rules: all ranks come to their ends if each has one
node that computes and one that communicates under way, of those that are ready
the first.
"""
import collections
import heapq
import json
import os
import random
import subprocess

import chakra
import each_job
import unfold_ranks


def expected(job, rank):
    """What a rank communicates: (kind, members or ends, bytes)."""
    out = []
    for call in job.program(rank):
        for members, what, axes in call:
            if what[0] == "message":
                out.append(("message", what[1], what[2]))
                continue
            name, size = what
            count = len(members)
            if count == 1 or rank not in members:
                continue
            if name == "ring":
                line = sorted(members)
                at = line.index(rank)
                for tag in range(count - 1):
                    for ends in ((rank, line[(at + 1) % count]),
                                 (line[at - 1], rank)):
                        out.append(("ring", ends, size // (count - 1), tag))
                continue
            if name == "broadcast":
                name, size = "all_gather", -(-size // count) * count
            out.append((name, tuple(sorted(members)), size))
    return out


def found(job, rank, nodes, groups):
    """The same, of a trace."""
    messages = 2 * len(job.chunks) * max(map(len, job.chunks)) * job.schedule.m
    for node in nodes:
        has = node.attributes
        if node.kind == "collective":
            members = (range(job.ranks) if has["pg_name"] == "0"
                       else groups[has["pg_name"]])
            assert rank in members, "not in its group"
            name = chakra.COLLECTIVES[has["comm_type"]]
            size = has["comm_size"] * (
                len(members) if name == "all_gather" else 1)
            yield name, tuple(sorted(members)), size
        elif node.kind != "compute":
            ends = ((rank, has["comm_dst"]) if node.kind == "send"
                    else (has["comm_src"], rank))
            tag = has["comm_tag"]
            if "_forward" in node.name or "_backward" in node.name:
                yield "message", ends, tag
            else:
                yield "ring", ends, has["comm_size"], tag - messages


class Rank:
    """A rank on its way through its nodes."""

    def __init__(self, nodes):
        self.left = {node.id: node for node in nodes}
        assert len(self.left) == len(nodes), "an id twice"
        self.users, self.waits = collections.defaultdict(list), {}
        self.ready = {"compute": [], "communicate": [], "receive": []}
        for node in nodes:
            before = set(node.control + node.data)
            assert all(d in self.left and d < node.id for d in before)
            self.waits[node.id] = len(before)
            for other in before:
                self.users[other].append(node)
            if not before:
                self.add(node)
        self.busy = None

    def add(self, node):
        slot = (node.kind if node.kind in ("compute", "receive")
                else "communicate")
        heapq.heappush(self.ready[slot], (node.id, node))

    def end(self, node):
        del self.left[node.id]
        for user in self.users[node.id]:
            self.waits[user.id] -= 1
            if self.waits[user.id] == 0:
                self.add(user)


def replay(ranks):
    """Whether all come to their ends."""
    sent, met, moved = collections.Counter(), {}, True
    counts = collections.Counter()
    while moved:
        moved = False
        for number, rank in enumerate(ranks):
            while rank.ready["compute"]:
                rank.end(heapq.heappop(rank.ready["compute"])[1])
                moved = True
            for entry in list(rank.ready["receive"]):
                has = entry[1].attributes
                key = (has["comm_src"], number, has["comm_tag"],
                       has["comm_size"])
                if sent[key]:
                    sent[key] -= 1
                    rank.ready["receive"].remove(entry)
                    heapq.heapify(rank.ready["receive"])
                    rank.end(entry[1])
                    moved = True
            if not rank.busy and rank.ready["communicate"]:
                node = heapq.heappop(rank.ready["communicate"])[1]
                has, moved = node.attributes, True
                if node.kind == "send":
                    sent[number, has["comm_dst"], has["comm_tag"],
                         has["comm_size"]] += 1
                    rank.end(node)
                    continue
                group = has["pg_name"]
                key = group, counts[number, group]
                counts[number, group] += 1
                what = has["comm_type"], has["comm_size"]
                of, come = met.setdefault(key, (what, []))
                if of != what:
                    return False
                come.append((rank, node))
                rank.busy = key
        for key, (_, come) in list(met.items()):
            if len(come) == len(ranks[0].groups.get(key[0], ranks)):
                for rank, node in met.pop(key)[1]:
                    rank.busy = None
                    rank.end(node)
                moved = True
    return not sum(sent.values()) and not any(rank.left for rank in ranks)


def one(foretrace, folder, seed):
    """A disagreement or None"""
    draw = random.Random(seed)
    path = os.path.join(folder, seed)
    text, ir = unfold_ranks.compile_some(foretrace, path + ".fore", draw)
    job = unfold_ranks.Job(ir)
    if job.ranks == 1:
        return None
    run = subprocess.run(
        [foretrace, "compile", path + ".fore", "--emit=chakra", "--quiet",
         "-o", path + "/"], capture_output=True, text=True)
    if run.returncode != 0:
        return "seed %s: %s\n%s" % (seed, run.stderr, text)
    with open(os.path.join(path, seed + ".groups.json")) as file:
        groups = json.load(file)
    ranks = []
    for number in range(job.ranks):
        nodes = list(chakra.read(
            os.path.join(path, "%s.%d.et" % (seed, number)))[1])
        has = list(found(job, number, nodes, groups))
        want = expected(job, number)
        # A half of a backward step has some of its collectives.
        if "backward_weight" in ir:
            has, want = sorted(map(str, has)), sorted(map(str, want))
        if has != want:
            return "seed %s: rank %d\n%s\n%s\n%s" % (
                seed, number, set(map(str, want)) - set(map(str, has)),
                set(map(str, has)) - set(map(str, want)), text)
        ranks.append(Rank(nodes))
    Rank.groups = groups
    if not replay(ranks):
        return "seed %s: some wait for ever\n%s" % (seed, text)
    return None


if __name__ == "__main__":
    each_job.main(one)
