# SPDX-License-Identifier: Apache-2.0
"""usage: replay.py LIST...

Reads time-independent traces as SMPI's replay does, and runs them: whoever waits for
a message goes on when both ends have begun it. Prints what was sent and computed.
Shares nothing with what wrote the files.
"""
import os
import sys

BYTE = 6  # of SMPI's datatypes
MOST = 2**31 - 1


class Rank:
    def __init__(self, number, path):
        with open(path) as file:
            lines = [line.split(" ") for line in file.read().splitlines()
                     if not line.startswith("#")]
        assert all(line[0] == str(number) for line in lines), "of another rank"
        self.actions = [[line[1]] + list(map(int, line[2:])) for line in lines]
        assert self.actions[0] == ["init"]
        assert self.actions[-1] == ["finalize"]
        self.number, self.at, self.computed, self.sent = number, 0, 0, 0
        self.begun = []  # (from, to, tag) of what is not waited for


class Run:
    def __init__(self, path):
        folder = os.path.dirname(path)
        with open(path) as file:
            self.ranks = [Rank(number, os.path.join(folder, name))
                          for number, name in enumerate(file.read().split())]
        self.messages = {}  # by (from, to, tag): bytes at the ends that began

    def begin(self, rank, kind, peer, tag, size, of):
        assert of == BYTE and 0 < size <= MOST and 0 <= tag <= MOST
        assert peer != rank.number and peer < len(self.ranks)
        is_send = kind == "isend"
        key = ((rank.number, peer) if is_send else (peer, rank.number)) + (tag,)
        ends = self.messages.setdefault(key, {})
        assert kind not in ends, "under way twice"
        ends[kind] = size
        assert len(set(ends.values())) == 1, "of two sizes"
        rank.begun.append(key)
        rank.sent += size * is_send

    def wait(self, rank, keys):
        if any(len(self.messages[key]) < 2 for key in keys):
            return False
        for key in keys:
            rank.begun.remove(key)
        return True

    def step(self, rank):
        """Whether the rank is done with its next action."""
        kind, *rest = rank.actions[rank.at]
        if kind in ("isend", "irecv"):
            self.begin(rank, kind, *rest)
        elif kind == "wait":
            return self.wait(rank, [tuple(rest)])
        elif kind == "waitall":
            return self.wait(rank, list(rank.begun))
        elif kind == "compute":
            assert rest[0] > 0
            rank.computed += rest[0]
        else:
            assert kind in ("init", "finalize"), kind
        return True

    def ends(self):
        """Whether all ranks do."""
        moved = True
        while moved:
            moved = False
            for rank in self.ranks:
                while rank.at < len(rank.actions) and self.step(rank):
                    rank.at += 1
                    moved = True
        return all(rank.at == len(rank.actions) and not rank.begun
                   for rank in self.ranks)

    def sent(self):
        return sum(rank.sent for rank in self.ranks)


if __name__ == "__main__":
    for trace in sys.argv[1:]:
        of = Run(trace)
        assert of.ends(), "some wait for ever"
        print("%s: %d ranks, %d bytes sent, %d computed by one at most" % (
            os.path.basename(trace), len(of.ranks), of.sent(),
            max(rank.computed for rank in of.ranks)))
