# SPDX-License-Identifier: Apache-2.0
"""usage: check_chakra.py FORETRACE SEED COUNT

Traces of random jobs against what unfold_ranks.py makes of the text of their IR:
every rank has the same messages and collectives, with the same members and
bytes. And by ASTRA-sim's rules all ranks come to their ends.
"""
import json
import os
import subprocess

import chakra
import chakra_replay
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
                for _ in range(count - 1):
                    for ends in ((rank, line[(at + 1) % count]),
                                 (line[at - 1], rank)):
                        out.append(("ring", ends, size // (count - 1)))
                continue
            if name == "broadcast":
                name, size = "all_gather", -(-size // count) * count
            out.append((name, tuple(sorted(members)), size))
    return out


def found(job, rank, nodes, groups):
    """The same, of a trace."""
    tags = set()
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
            assert (ends, tag) not in tags, "a tag of two messages"
            tags.add((ends, tag))
            if "_forward" in node.name or "_backward" in node.name:
                yield "message", ends, tag
            else:
                yield "ring", ends, has["comm_size"]


def one(foretrace, folder, seed):
    """A disagreement or None"""
    _, path, text, ir = unfold_ranks.random_ranks(foretrace, folder, seed)
    job = unfold_ranks.Job(ir)
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
        assert all(d < node.id for node in nodes
                   for d in node.control + node.data), "ids are no order"
        ranks.append(nodes)
    if not chakra_replay.replay(ranks, groups):
        return "seed %s: some wait for ever\n%s" % (seed, text)
    return None


if __name__ == "__main__":
    each_job.main(one)
