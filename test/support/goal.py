# SPDX-License-Identifier: Apache-2.0
"""usage: goal.py [--gap=NS_PER_BYTE] [--latency=NS] FILE...

Reads GOAL as strictly as LogGOPSim does, runs it, and prints when the last rank is
ready. A processor does one thing at a time, in the order in which things can begin;
a network interface sends a message after the other, and a message takes the latency
and its bytes. Then again with sends that are over only when they are received, as in
htsim. Shares nothing with what wrote the file.
"""
import argparse
import collections
import heapq
import re
import sys

LABEL = r"[A-Za-z][A-Za-z0-9_]*"
OPERATION = re.compile(
    rf"({LABEL}): (?:(calc) (\d+)|(send|recv) (\d+)b (?:to|from) (-1|\d+)"
    r" tag (-1|\d+)) cpu (\d+)(?: nic (\d+))?")
ANY = -1  # the rank or the tag of a receive that takes all
ORDER = re.compile(rf"({LABEL}) requires ({LABEL})")


class Operation:
    def __init__(self, rank, match):
        self.rank, self.label = rank, match[1]
        self.kind = match[2] or match[4]
        self.size = int(match[3] or match[5])
        self.peer, self.tag = int(match[6] or ANY), int(match[7] or ANY)
        self.cpu, self.nic = int(match[8]), match[9]
        assert (self.nic is None) == (self.kind == "calc"), match[0]
        assert self.kind == "calc" or 0 < self.size < 2**31, match[0]
        assert self.kind != "send" or ANY not in (self.peer, self.tag), match[0]
        assert self.tag < 2**32 - 1 and self.cpu < 256 and self.peer != rank
        self.waits, self.next = 0, []
        self.begin, self.end = 0, None


def read(path):
    """The operations of each rank, by label."""
    with open(path) as file:
        return parse(file.read().splitlines())


def parse(lines):
    ranks = []
    lines = [line for line in lines if not line.startswith("//")]
    count = re.fullmatch(r"num_ranks (\d+)", lines.pop(0) if lines else "")
    assert count, "no ranks"
    for line in lines:
        if line == "rank %d {" % len(ranks):
            ranks.append({})
        elif match := OPERATION.fullmatch(line):
            of = Operation(len(ranks) - 1, match)
            assert of.label not in ranks[-1], line
            ranks[-1][of.label] = of
        elif match := ORDER.fullmatch(line):
            assert all(label in ranks[-1] for label in match.groups()), line
            later, earlier = (ranks[-1][label] for label in match.groups())
            later.waits += 1
            earlier.next.append(later)
        else:
            assert line == "}", line
    assert len(ranks) == int(count[1])
    return ranks


class Run:
    def __init__(self, ranks, gap, latency, is_eager=True):
        self.is_eager = is_eager
        self.gap, self.latency = gap, latency
        self.free = collections.defaultdict(float)  # by processor, interface
        self.arrived = collections.defaultdict(list)  # by rank
        self.posted = collections.defaultdict(list)
        self.events, self.number = [], 0
        self.all = [of for rank in ranks for of in rank.values()]
        for of in self.all:
            if not of.waits:
                self.at(0, of)

    def at(self, time, of):
        heapq.heappush(self.events, (time, self.number, of))
        self.number += 1

    def done(self, time, of):
        of.end = time
        for later in of.next:
            later.waits -= 1
            later.begin = max(later.begin, time)
            if not later.waits:
                self.at(later.begin, later)

    def calc(self, time, of):
        start = max(time, self.free[of.rank, "cpu", of.cpu])
        self.free[of.rank, "cpu", of.cpu] = start + of.size
        self.done(start + of.size, of)

    def send(self, time, of):
        start = max(time, self.free[of.rank, "nic", of.nic])
        self.free[of.rank, "nic", of.nic] = start + self.gap * of.size
        arrival = start + self.latency + self.gap * of.size
        self.arrived[of.peer].append((arrival, of))
        self.meet(of.peer)
        if self.is_eager:
            self.done(start, of)

    def recv(self, time, of):
        self.posted[of.rank].append((time, of))
        self.meet(of.rank)

    def meet(self, rank):
        """The first receive of a rank that takes a message takes the first."""
        for receive in self.posted[rank]:
            for message in self.arrived[rank]:
                (begin, of), (time, sent) = receive, message
                if (of.peer in (ANY, sent.rank) and of.tag in (ANY, sent.tag)):
                    break
            else:
                continue
            self.posted[rank].remove(receive)
            self.arrived[rank].remove(message)
            assert sent.size == of.size, "%d bytes to %d: %s" % (
                sent.size, of.rank, sent.label)
            self.done(max(time, begin), of)
            if not self.is_eager:
                self.done(max(time, begin), sent)
            return

    def problem(self):
        """Runs; what is wrong, or None."""
        while self.events:
            time, _, of = heapq.heappop(self.events)
            getattr(self, of.kind)(time, of)
        left = sum(of.end is None for of in self.all)
        if left:
            return "%d operations wait for ever" % left
        return "a message is not received" if any(
            self.arrived.values()) else None


def sent(ranks):
    """Bytes that all send."""
    return sum(of.size for rank in ranks for of in rank.values()
               if of.kind == "send")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--gap", type=float, default=0.02)
    parser.add_argument("--latency", type=float, default=500)
    parser.add_argument("files", nargs="+")
    args = parser.parse_args()
    for path in args.files:
        ranks = read(path)
        run = Run(ranks, args.gap, args.latency)
        problem = run.problem() or Run(
            read(path), args.gap, args.latency, is_eager=False).problem()
        assert not problem, problem
        print("%s: %d ranks, %d operations, %d bytes sent, %d ns" % (
            path.rsplit("/", 1)[-1], len(ranks), len(run.all), sent(ranks),
            max(of.end for of in run.all)))


if __name__ == "__main__":
    sys.exit(main())
