# SPDX-License-Identifier: Apache-2.0
"""Whether a set of Chakra traces may stand for another one: what ASTRA-sim needs of
its nodes, and a replay of all ranks. Shares nothing with `foretrace validate`.
"""
import collections
import functools
import json

import chakra
import chakra_replay
from goal_changes import Illegal, need

SIMULATED = {0, 2, 6, 7}
Task = collections.namedtuple("Task", "id kind control data attributes work")


@functools.lru_cache(4096)
def read_trace(data):
    """The nodes of a file."""
    try:
        first, *rest = chakra.messages(data)
        chakra.metadata(first)
        return [chakra.Node(message) for message in rest]
    except (IndexError, ValueError) as error:
        raise Illegal("no trace") from error


def read_groups(data, count):
    """Members by number; group 0 is all ranks."""
    try:
        groups = json.loads(data)
    except ValueError as error:
        raise Illegal("no JSON") from error
    need(isinstance(groups, dict), "no groups")
    out = {0: list(range(count))}
    for name, members in groups.items():
        need(name.isascii() and name.isdigit(), "no number of a group")
        need(0 < int(name) < 1 << 31 and int(name) not in out, "a group twice")
        need(isinstance(members, list) and all(
            isinstance(m, (int, float)) and not isinstance(m, bool)
            and m in out[0] for m in members), "no rank")
        need(len(set(members)) == len(members), "a member twice")
        out[int(name)] = [int(member) for member in members]
    return out


def integer(node, name, limit=1 << 63, default=None):
    value = node.attributes.get(name, default)
    need(isinstance(value, int) and 0 <= value < limit, name)
    return value


def compute(node):
    """(us, operations, bytes)"""
    need(node.duration < 1 << 54, "a long time")
    work = tuple(integer(node, name, 1 << 64, 0)
                 for name in ("num_ops", "tensor_size"))
    given = {"num_ops", "tensor_size"} & node.attributes.keys()
    need(all(work) or not given, "half a roofline")
    need(node.duration or all(work), "no work")
    return (node.duration,) + work


def message(node, rank, count):
    own, other = (("comm_src", "comm_dst") if node.kind == "send"
                  else ("comm_dst", "comm_src"))
    need(integer(node, own, default=rank) == rank, "the wrong end")
    has = {other: integer(node, other, count),
           "comm_tag": integer(node, "comm_tag", 500000000),
           "comm_size": integer(node, "comm_size")}
    need(has[other] != rank and has["comm_size"] > 0, "no message")
    return has


def collective(node, rank, groups):
    name = node.attributes.get("pg_name", "0") or "0"
    need(isinstance(name, str) and name.isascii() and name.isdigit(), "a name")
    members = groups.get(int(name), [])
    need(rank in members and len(members) > 1, "no member")
    has = {"pg_name": int(name), "comm_size": integer(node, "comm_size"),
           "comm_type": integer(node, "comm_type")}
    need(has["comm_type"] in SIMULATED and has["comm_size"] > 0, "no bytes")
    return has


def task(node, rank, groups):
    """What ASTRA-sim reads of a node."""
    need(node.kind, "a type")
    need(integer(node, "is_cpu_op", default=0) == 0, "of the CPU")
    work, has = None, {}
    if node.kind == "compute":
        work = compute(node)
    elif node.kind == "collective":
        has = collective(node, rank, groups)
    else:
        has = message(node, rank, len(groups[0]))
    return Task(node.id, node.kind, sorted(set(node.control + node.data)), [],
                has, work)


class Set:
    """The files `<prefix>.<rank>.et` and `<prefix>.groups.json`."""

    def __init__(self, files):
        traces = {int(name.split(".")[-2]): data
                  for name, data in files.items() if name.endswith(".et")}
        need(sorted(traces) == list(range(len(traces))) and traces, "a gap")
        groups = [data for name, data in files.items()
                  if name.endswith(".json")] or [b"{}"]
        self.groups = read_groups(groups[0], len(traces))
        self.tasks = [[task(node, rank, self.groups)
                       for node in read_trace(traces[rank])]
                      for rank in sorted(traces)]

    def runs(self):
        try:
            return chakra_replay.Replay(self.tasks, self.groups).ends()
        except AssertionError:
            return False

    def without_work(self):
        return [[t._replace(work=None) for t in tasks] for tasks in self.tasks]

    def communication(self):
        """What each rank communicates, in any order."""
        return [sorted(str((t.kind, t.attributes)) for t in tasks
                       if t.attributes) for tasks in self.tasks]


def harmless(before, after):
    """By which rule the change of files is harmless; None if it is not."""
    try:
        old, new = Set(before), Set(after)
    except Illegal:
        return None
    if old.groups == new.groups and old.tasks == new.tasks:
        return "the same is read"
    if old.groups == new.groups and old.without_work() == new.without_work():
        return "other times"
    if not new.runs():
        return None
    if old.communication() == new.communication():
        return "the same communication, all come to their ends"
    return "other communication on all its ranks, all come to their ends"
