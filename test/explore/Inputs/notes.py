# SPDX-License-Identifier: Apache-2.0
"""usage: notes.py DENSE EXPERTS

Prints the notes of comparisons of DENSE with variants of it, and the suggested schedule
of EXPERTS.
"""

import sys

from server import Server

server = Server(sys.argv[1])
for title, change in (None, "train.recipe=fp8"), ("same work:", "train.recompute=full"):
    notes = server.ask("/compare", before={}, after={"set": [change]})["notes"]
    print(*[title, notes] if title else notes)
server.close()

server = Server(sys.argv[2])
for found in server.ask("/suggest", goal="faster")["suggestions"]:
    if "parallel.schedule=dualpipe" in found["set"] and len(found["set"]) == 1:
        print("faster:", found["set"])
server.close()
