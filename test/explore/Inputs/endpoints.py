# SPDX-License-Identifier: Apache-2.0
"""usage: endpoints.py JOB FOLDER

Asks each endpoint about the job, and prints what matters of the answers.
"""

import json
import pathlib
import signal
import sys
import time

from server import Server
from tool import page_data

job = pathlib.Path(sys.argv[1])
server = Server(job, "-D", "train.global_batch=32")

code, page = server.request("GET", "/")
first = server.ask("/compile")
print("page:", code, "<aside id=\"explore\"" in page, page_data(page) == first["data"])
print("ranks:", first["data"]["plan"]["parallel"]["world"]["value"])

refused = server.ask("/compile", set=["parallel.tp=3"])
error = refused["diagnostics"][0]
print("refused:", refused["legal"], error["slug"], [note["message"] for note in error["notes"]][-1])
text = job.read_text().replace("micro_batch", "micro_bach")
wrong = server.ask("/compile", text=text)["diagnostics"][0]
print("of a text:", wrong["slug"], pathlib.Path(wrong["file"]).name, wrong["line"])

controls = {of["key"]: of for of in server.ask("/controls")["controls"]}
tp = controls["parallel.tp"]
print("control:", tp["type"], tp["value"], tp["how"], tp["doc"])
print("-D of the command line:", controls["train.global_batch"]["value"])
print("of the model:", controls["model.attention.heads"]["value"], controls["model.layers"]["value"])
values = server.ask("/values", keys=["parallel.tp", "train.recompute"])["values"]
print("legal:", [of["value"] for of in values["parallel.tp"] if "why" not in of])
print("why not:", [of["why"] for of in values["parallel.tp"] if of["value"] == "8"][0])
print("words:", [of["value"] for of in values["train.recompute"]])

same = server.ask("/compare", before={}, after={"set": ["train.recompute=none"]})
other = server.ask("/compare", before={}, after={"set": ["train.recompute=full"]})
print("compared:", same["same"], other["same"], [of["key"] for of in other["keys"]])
print("command:", server.ask("/export", to="command", set=["parallel.tp=1"])["text"].split("explore-job")[-1])
print("megatron:", "--tensor-model-parallel-size 1" in server.ask("/export", to="megatron", set=["parallel.tp=1"])["text"])

# What is saved is served; imported files count, too.
stamp = json.loads(server.request("GET", "/job")[1])["stamp"]
print("stamp stays:", json.loads(server.request("GET", "/job")[1])["stamp"] == stamp)
time.sleep(0.01)
job.write_text(job.read_text().replace("tp = 2", "tp = 1"))
after = json.loads(server.request("GET", "/job")[1])
print("saved:", after["stamp"] != stamp, "tp = 1" in after["text"])
print("after:", {of["key"]: of for of in server.ask("/controls")["controls"]}["parallel.tp"]["value"])

print("no such page:", server.request("GET", "/nothing")[0], server.request("POST", "/", "{}")[0],
      server.request("GET", "/compile")[0])
print("bodies:", server.request("POST", "/compile", "{")[0], server.request("POST", "/compile", "[]")[0],
      server.request("POST", "/compile", '{"text": 1}')[0], server.request("POST", "/compile", '{"set": 1}')[0],
      server.request("POST", "/suggest", '{"goal": "more"}')[0], server.request("POST", "/values", '{}')[0],
      server.request("POST", "/compare", '{}')[0], server.request("POST", "/export", '{"to": "word"}')[0])
print("exit:", server.close(signal.SIGINT))
