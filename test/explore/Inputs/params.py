# SPDX-License-Identifier: Apache-2.0
"""usage: params.py JOB

Prints the controls of the params of the job, moves one, and writes it into the text.
"""

import sys

from server import Server

server = Server(sys.argv[1], "-D", "wide=true")


def params(*changes):
    return [of for of in server.ask("/controls", set=changes)["controls"] if "." not in of["key"]]


for of in params():
    values = server.ask("/values", keys=[of["key"]])["values"][of["key"]]
    print(of["key"], of["type"], of["value"], "legal:", *[each["value"] for each in values if "why" not in each])
    for each in values:
        if "why" in each:
            print(f"  not {each['value']}: {each['why']}")
print("first:", server.ask("/controls")["controls"][0]["key"], of["doc"])
print("moved:", [of["value"] for of in params("ranks=16", "mode=full")])
print("world:", server.ask("/compile", set=["ranks=16"])["data"]["plan"]["parallel"]["world"]["value"])
print("written:", server.ask("/write", set=["ranks=16"])["text"].splitlines()[1])
print("exit:", server.close())
