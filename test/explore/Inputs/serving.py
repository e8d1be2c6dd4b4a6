# SPDX-License-Identifier: Apache-2.0
"""usage: serving.py JOB POOLS

Moves keys of a job that serves, and of one of two engines, and prints what follows.
"""

import json
import sys

import tool
from server import Server

job, pools = sys.argv[1:]
server = Server(job)


def exact(part):
    """A number, which may say where it comes from, or words."""
    return exact(part["value"]) if isinstance(part, dict) else part


def tiles(*changes, of=server):
    """The headlines of the first tiles."""
    answer = of.ask("/compile", set=changes)
    return [exact(tile["headline"][0]) for tile in answer["data"]["tiles"]][:3]


for changes in [], ["requests.input=8Ki"], ["requests.output=4Ki"], ["serve.kv_precision=fp8"], \
        ["serve.memory_fraction=0.5"], ["parallel.tp=8", "parallel.world=8"]:
    memory = tool.document("memory", job, *(f"-D{change}" for change in changes))
    print(*changes or ["as it is"], tiles(*changes),
          [str(memory["sequences"]), str(memory["kv_tokens"])] == tiles(*changes)[1:])
judged = server.ask("/compile", set=["requests.concurrency=10000"])["data"]["tiles"][1]
print("concurrency:", judged["verdict"], "".join(map(str, judged["why"])))
refused = server.ask("/compile", set=["parallel.tp=3"])
print("refused:", refused["legal"], refused["diagnostics"][0]["slug"])

controls = {of["key"]: of for of in server.ask("/controls")["controls"]}
for key in ("requests.concurrency", "requests.input", "requests.output", "serve.kv_precision", "parallel.tp",
            "parallel.ep", "serve.replicas", "serve.memory_fraction"):
    print(key, *(controls[key][of] for of in ("type", "value", "how")), bool(controls[key]["doc"]))
values = server.ask("/values", keys=["serve.kv_precision", "serve.step"])["values"]
print("types:", [of["value"] for of in values["serve.kv_precision"] if "why" not in of])
print("steps:", [of["value"] for of in values["serve.step"] if "why" not in of])
for goal in "fit", "faster":
    print(goal + ":", server.ask("/suggest", goal=goal)["why"])
print("formats:", json.loads(server.request("GET", "/job")[1])["exports"])
print("command:", server.ask("/export", to="vllm", set=["parallel.tp=2", "parallel.world=2"])["text"].split("\n")[1].strip())
written = server.ask("/write", set=["requests.input=8Ki", "serve.kv_precision=fp8", "parallel.tp=2", "parallel.world=2"])
print("written:", "input = 8Ki" in written["text"], "kv_precision = fp8" in written["text"], written["rest"])
compared = server.ask("/compare", before={}, after={"set": ["serve.kv_precision=fp8"]})
print("compared:", [of["key"] for of in compared["keys"]],
      sorted({"cache_token", "kv_tokens"} & {of["figure"] for of in compared["figures"]}))
print("exit:", server.close())

two = Server(pools, "--pool=decode")
print("pool:", tiles("serve.decode.blocks=90", of=two), tool.document(
    "memory", pools, "--pool=decode", "-Dserve.decode.blocks=90")["sequences"])
print("write:", two.ask("/write", set=["parallel.tp=4"])["rest"])
print("exit:", two.close())
