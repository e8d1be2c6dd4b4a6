# SPDX-License-Identifier: Apache-2.0
"""usage: check_volume.py SEED COUNT

Unfolds random jobs to every collective and message of every rank, sends their
bytes from rank to rank, places ranks on a random cluster, and compares with what
`foretrace volume` says: by group, collective, phase, key and tier; and that with
what `foretrace plan` says of each kind of stage."""

import collections
import fractions

import tool
import unfold_ranks

# Megatron-LM's groups, in the order of its parallel_state: without and with dp_shard.
EXPERTS = [("etp", ("etp",)), ("ep", ("ep",)), ("etp-ep", ("etp", "ep"))]
GROUPS = [("tp", ("tp",)), ("cp", ("cp",)), ("dp", ("dp",)), ("dp-cp", ("cp", "dp")),
          ("pp", ("pp",)), ("tp-cp", ("tp", "cp")), ("tp-dp-cp", ("tp", "cp", "dp")),
          ("mp", ("tp", "pp")), *EXPERTS, ("edp", ("edp",))]
HYBRID = [("tp", ("tp",)), ("cp", ("cp",)), ("dp", ("dp", "dp_replicate")),
          ("dp-cp", ("cp", "dp", "dp_replicate")), ("dp-shard", ("dp",)),
          ("dp-cp-shard", ("cp", "dp")), ("dp-replicate", ("dp_replicate",)),
          ("pp", ("pp",)), ("tp-cp", ("tp", "cp")),
          ("tp-dp-cp", ("tp", "cp", "dp", "dp_replicate")), ("mp", ("tp", "pp")),
          *EXPERTS, ("edp", ("edp", "dp_replicate")), ("edp-shard", ("edp",))]
MEMBERS = {("ends",): "embedding", ("pairs",): "copies"}
PHASES = {"forward_step": ("forward",), "reduce_gradients": ("step",),
          "backward_step": ("recompute", "backward"),
          "backward_input": ("recompute", "backward")}
CLUSTER = """cluster {{
  nodes = {nodes}  devices_per_node = {node}  nic_bandwidth = 10 GB/s
  tiers {{
    a {{ devices = {inner}  bandwidth = 10 GB/s  latency = 1 us }}
    b {{ devices = {outer}  bandwidth = 10 GB/s  latency = 1 us }}
    c {{ latency = 1 us }}
  }}
}}
"""


def group_name(axes, mesh):
    """The group along these axes: of some that differ in axes of one rank only, the
    one with these very axes, else the first."""
    if axes in MEMBERS:
        return MEMBERS[axes]
    groups = HYBRID if mesh.get("dp_replicate", 1) > 1 else GROUPS

    def reduced(of):
        return tuple(axis for axis in of if mesh.get(axis, 1) > 1)

    exact = [name for name, of in groups if of == axes]
    alike = [name for name, of in groups if reduced(of) == reduced(axes)]
    return (exact + alike + [",".join(axes)])[0]


def random_cluster(draw, ranks):
    node = draw.choice((1, 2, 3, 4, 8))
    inner = node * draw.choice((1, 1, 2))
    return {"node": node, "inner": inner, "outer": inner * draw.choice((2, 3)),
            "nodes": -(-ranks // node) + draw.choice((0, 1))}


def sent(name, size, rank, members):
    """Bytes by receiver."""
    line = sorted(members)
    count, at = len(line), line.index(rank)
    if name == "all_to_all":
        return {other: fractions.Fraction(size, count)
                for other in line if other != rank}
    if name == "broadcast":
        return {line[at + 1]: size} if at + 1 < count else {}
    share = {"ring": fractions.Fraction(1), "all_reduce": fractions.Fraction(
        2 * (count - 1), count)}.get(name, fractions.Fraction(count - 1, count))
    return {line[(at + 1) % count]: share * size}


def calls(job, rank):
    """(group, collective, phase, message, bytes by receiver)"""
    stage = job.coordinates(rank, job.dense)["pp"]
    for _, kind, _, chunk, peer, _ in job.schedule.unfold(stage):
        if kind in ("send_forward", "send_backward"):
            there = rank + (peer - stage) * job.stride
            yield "pp", "send", "pipeline", job.boundary(), {there: job.boundary()}
        if kind not in PHASES:
            continue
        layers = ([job.steps[stage]] if kind == "reduce_gradients"
                  else job.chunks[stage][chunk])
        for block in layers:
            for phase, name, axes, size in job.blocks[block]:
                members = job.members(rank, axes)
                if phase in PHASES[kind] and len(members) > 1:
                    yield (group_name(axes, job.mesh), name, phase, size,
                           sent(name, size, rank, members))


def expected(job, cluster):
    rows = collections.defaultdict(collections.Counter)
    for rank in range(job.ranks):
        for *names, message, receivers in calls(job, rank):
            row = rows[tuple(names)]
            row["message"] += message
            for there, size in receivers.items():
                row["sent"] += size
                row["cross_node"] += size * (rank // cluster["node"]
                                             != there // cluster["node"])
                tier = next((tier for tier, limit in (
                    ("a", cluster["inner"]), ("b", cluster["outer"]))
                    if rank // limit == there // limit), "c")
                row[tier] += size
    return rows


def check_volume(job, volume, plan, cluster):
    rows, kinds = expected(job, cluster), len(plan["stages"])
    said = {(row["group"], row["collective"], row["phase"]): row
            for row in volume["collectives"]}
    assert set(said) == {names for names in rows if rows[names]["message"]}, (said, rows)
    # Quotients are rounded in each kind of stage.
    for names, row in said.items():
        for column in ("message", "sent", "cross_node"):
            most = 1 if column == "message" else kinds
            assert abs(row[column] - rows[names][column]) < most, (names, row, rows[names])
    for tier in volume["tiers"]:
        want = sum(row[tier["tier"]] for row in rows.values())
        assert abs(tier["sent"] - want) < kinds * len(rows) + 1, (tier, want)
    for column in ("message", "sent", "cross_node"):
        for table in ("causes", "groups", "phases", "collectives"):
            assert sum(row[column] for row in volume[table]) == volume[column], (column, table)
    for table in ("tiers", "tier_groups"):
        assert sum(row["sent"] for row in volume[table]) == volume["sent"], table
    ranks = job.ranks // len(job.chunks)
    messages = sum(row["messages"] * len(tool.each(row["stages"])) * ranks
                   for row in plan["messages"])
    assert messages == volume["message"], (messages, volume["message"])


def check_micro_batch(job, volume, one):
    """One micro-batch against `volume` of an iteration."""
    def rows(of, times):
        return {(row["group"], row["collective"], row["phase"]):
                row["message"] * times for row in of["collectives"]
                if row["phase"] != "step"}

    times = job.schedule.m // (2 if job.schedule.placement == "bidirectional"
                               else 1)
    assert rows(one, times) == rows(volume, 1), (times, rows(one, 1), rows(volume, 1))


def on_cluster(case, choose=random_cluster, section=CLUSTER):
    """A random job, and the cluster that `choose` draws, as `section` has it."""
    job = unfold_ranks.random_ranks(case)
    cluster = choose(case.draw, job.ranks)
    case.append(section.format(**cluster))
    return job, cluster


def check(case):
    job, cluster = on_cluster(case)
    volume = tool.document("volume", case.job)
    check_volume(job, volume, tool.document("plan", case.job), cluster)
    check_micro_batch(job, volume, tool.document("volume", case.job, "--per=micro_batch"))


if __name__ == "__main__":
    tool.cases(check)
