# SPDX-License-Identifier: Apache-2.0
"""ASTRA-sim's rules: all ranks of a set of Chakra traces come to their ends if each
has one node that computes and one that communicates under way, of those that are
ready the first.
"""
import collections
import heapq


class Rank:
    """A rank on its way through its nodes."""

    def __init__(self, nodes):
        self.left = {node.id: node for node in nodes}
        assert len(self.left) == len(nodes), "an id twice"
        self.users, self.waits = collections.defaultdict(list), {}
        self.ready = {"compute": [], "communicate": [], "receive": []}
        for node in nodes:
            before = set(node.control + node.data)
            assert before <= self.left.keys(), "an unknown dependence"
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


def replay(traces, groups):
    """Whether all come to their ends; `traces` are lists of nodes."""
    ranks = [Rank(nodes) for nodes in traces]
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
            if len(come) == len(groups.get(key[0], ranks)):
                for rank, node in met.pop(key)[1]:
                    rank.busy = None
                    rank.end(node)
                moved = True
    return not sum(sent.values()) and not any(rank.left for rank in ranks)
