"""usage: check.py TRACE

Holds a trace to what its readers expect: slices of one thread in order, apart
or within each other, each with a name, on processes that have names. Prints the
processes and how many slices of each category they have.
"""

import collections
import decimal
import json
import sys


def check_thread(slices):
    """Slices in order; one that begins within another ends there, too."""
    last, open_ends = None, []
    for event in slices:
        start = event["ts"]
        end = start + event["dur"]
        if event["dur"] < 0:
            sys.exit(f"{event['name']} ends before it begins")
        if last is not None and start < last:
            sys.exit(f"{event['name']} at {start} stands after {last}")
        last = start
        while open_ends and open_ends[-1] <= start:
            open_ends.pop()
        if open_ends and end > open_ends[-1]:
            sys.exit(f"{event['name']}, {start} to {end}, overlaps what ends "
                     f"at {open_ends[-1]}")
        open_ends.append(end)


with open(sys.argv[1], encoding="utf-8") as file:
    trace = json.load(file, parse_float=decimal.Decimal)
names, threads = {}, collections.defaultdict(list)
for event in trace["traceEvents"]:
    if event["name"] == "process_name":
        names[event["pid"]] = event["args"]["name"]
    if event["ph"] == "X":
        threads[event["pid"], event["tid"]].append(event)
for (pid, _), slices in threads.items():
    check_thread(slices)
    counts = collections.Counter(event["cat"] for event in slices)
    ends = max(event["ts"] + event["dur"] for event in slices)
    print(f"{names[pid]}:", *(f"{category} {count}" for category, count
                              in sorted(counts.items())), f"until {ends}")
