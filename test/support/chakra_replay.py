# SPDX-License-Identifier: Apache-2.0
"""ASTRA-sim's rules: all ranks of a set of Chakra traces come to their ends if each
has one node that computes and one that communicates under way, of those that are
ready the first. Times are those of a network with a latency and a bandwidth.
"""
import collections
import heapq

MICRO = 1000  # ns
LATENCY, BYTES_OF_NS = 700, 50


class Rank:
    """A rank on its way through its nodes. `in_order`: nodes of a kind begin in the order
    of their ids, so that times do not depend on the order in which ranks are looked at."""

    def __init__(self, nodes, in_order):
        self.left = {node.id: node for node in nodes}
        assert len(self.left) == len(nodes), "an id twice"
        self.users, self.waits = collections.defaultdict(list), {}
        self.ready = {"compute": [], "communicate": [], "receive": []}
        self.order = {slot: [] for slot in self.ready} if in_order else None
        self.ends, self.free = {}, collections.Counter()  # times, by node and by slot
        for node in sorted(nodes, key=lambda node: -node.id):
            before = set(node.control + node.data)
            assert before <= self.left.keys(), "an unknown dependence"
            self.waits[node.id] = len(before)
            for other in before:
                self.users[other].append(node)
            if in_order:
                self.order[self.slot(node)].append(node.id)
            if not before:
                self.add(node)
        self.busy = None

    def slot(self, node):
        return node.kind if node.kind in self.ready else "communicate"

    def add(self, node):
        heapq.heappush(self.ready[self.slot(node)], (node.id, node))

    def take(self, slot):
        """The node that begins next, or None."""
        ready = self.ready[slot]
        if not ready or self.order and self.order[slot][-1] != ready[0][0]:
            return None
        if self.order:
            self.order[slot].pop()
        return heapq.heappop(ready)[1]

    def begin(self, node):
        """When the node can begin."""
        return max([self.free[self.slot(node)],
                    *(self.ends[other] for other in node.control + node.data)])

    def end(self, node, time):
        self.ends[node.id] = time
        if node.kind != "receive":
            self.free[self.slot(node)] = time
        del self.left[node.id]
        for user in self.users[node.id]:
            self.waits[user.id] -= 1
            if self.waits[user.id] == 0:
                self.add(user)


class Replay:
    """All ranks; `traces` are lists of nodes."""

    def __init__(self, traces, groups, in_order=False):
        self.ranks = [Rank(nodes, in_order) for nodes in traces]
        self.groups = groups
        self.sent = collections.defaultdict(list)  # times, by ends, tag and bytes
        self.met, self.counts = {}, collections.Counter()

    def receive(self, number, rank):
        """Whether a message that was sent is received."""
        for entry in list(rank.ready["receive"]):
            node, has = entry[1], entry[1].attributes
            sent = self.sent[has["comm_src"], number, has["comm_tag"], has["comm_size"]]
            if sent:
                rank.ready["receive"].remove(entry)
                heapq.heapify(rank.ready["receive"])
                rank.end(node, max(rank.begin(node), sent.pop(0)))
                return True
        return False

    def communicate(self, number, rank, node):
        """Begins a node that communicates; whether it is as what it meets."""
        has = node.attributes
        if node.kind == "send":
            end = rank.begin(node) + LATENCY + has["comm_size"] / BYTES_OF_NS
            self.sent[number, has["comm_dst"], has["comm_tag"], has["comm_size"]].append(end)
            rank.end(node, end)
            return True
        group = has["pg_name"]
        rank.busy = group, self.counts[number, group]
        self.counts[number, group] += 1
        what = has["comm_type"], has["comm_size"]
        of, come = self.met.setdefault(rank.busy, (what, []))
        come.append((rank, node))
        return of == what

    def meet(self):
        """Whether all members of some group have come, and go on."""
        full = [key for key, (_, come) in self.met.items()
                if len(come) == len(self.groups.get(key[0], self.ranks))]
        for key in full:
            (_, size), come = self.met.pop(key)
            start = max(rank.begin(node) for rank, node in come)
            for rank, node in come:
                rank.busy = None
                rank.end(node, start + LATENCY + size / BYTES_OF_NS)
        return bool(full)

    def ends(self):
        """Whether all come to their ends."""
        moved = True
        while moved:
            moved = False
            for number, rank in enumerate(self.ranks):
                while node := rank.take("compute"):
                    # Nodes of chakra_rules.py have no times.
                    rank.end(node, rank.begin(node) + MICRO * getattr(node, "duration", 0))
                    moved = True
                while self.receive(number, rank):
                    moved = True
                if not rank.busy and (node := rank.take("communicate")):
                    moved = True
                    if not self.communicate(number, rank, node):
                        return False
            moved = self.meet() or moved
        return not any(self.sent.values()) and not any(rank.left for rank in self.ranks)
