# SPDX-License-Identifier: Apache-2.0
"""usage: check_chakra.py SEED COUNT

Traces of random jobs against what unfold_ranks.py makes of the text of their IR:
every rank has the same messages and collectives, with the same members and
bytes. And by ASTRA-sim's rules all ranks come to their ends.
"""
import chakra
import chakra_replay
import tool
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


def collective(ranks, groups, node):
    """The same of a collective of a trace."""
    has = node.attributes
    members = range(ranks) if has["pg_name"] == "0" else groups[has["pg_name"]]
    name = chakra.COLLECTIVES[has["comm_type"]]
    size = has["comm_size"] * (len(members) if name == "all_gather" else 1)
    return name, tuple(sorted(members)), size


def found(job, rank, nodes, groups):
    """The same of all nodes of a trace."""
    tags = set()
    for node in nodes:
        has = node.attributes
        if node.kind == "collective":
            of = collective(job.ranks, groups, node)
            assert rank in of[1], "not in its group"
            yield of
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


def check(case):
    job = unfold_ranks.random_ranks(case)
    tool.run("compile", case.job, "--emit=chakra", "--quiet", "-o", case.stem + "/")
    groups, ranks = chakra.read_set(case.stem)
    for rank, nodes in enumerate(ranks):
        has, want = list(found(job, rank, nodes, groups)), expected(job, rank)
        # A half of a backward step has some of its collectives.
        if "backward_weight" in job.text:
            has, want = sorted(map(str, has)), sorted(map(str, want))
        assert has == want, (rank, has, want)
        assert all(d < node.id for node in nodes
                   for d in node.control + node.data), "ids are no order"
    assert len(ranks) == job.ranks
    assert chakra_replay.Replay(ranks, groups).ends(), "some wait for ever"


if __name__ == "__main__":
    tool.cases(check)
