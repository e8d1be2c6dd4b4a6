# SPDX-License-Identifier: Apache-2.0
"""usage: session.py FOLDER: what someone types, and what the server says."""

import pathlib
import sys

from client import Client, first_figure, texts_of

folder = pathlib.Path(sys.argv[1]).absolute()
JOB, BASE = (texts_of(folder)[name] for name in ("job.fore", "base.fore"))
job, base = ((folder / name).as_uri() for name in ("job.fore", "base.fore"))
client = Client()

client.open(job, JOB)
print("opened:", client.found(job))
# The figures are those of the commands.
figures = {name: first_figure(name, folder / "job.fore") for name in ("params", "memory")}
hints = [hint["label"] for hint in client.about("inlayHint", job)]
print("hints:", [hint.replace(figures["params"], "<params>")
                 .replace(figures["memory"], "<memory>") for hint in hints])
print("hover:", client.about("hover", job, 3, 26)["contents"]["value"].replace("\n", " "))
print("definition:", client.about("definition", job, 0, 10)["uri"].rsplit("/", 1)[1])
print("symbols:", [symbol["name"] for symbol in client.about("documentSymbol", job)])

# A size that is not legal: the error has its place, the note that of another key.
client.change(job, {"range": {"start": {"line": 3, "character": 29},
                              "end": {"line": 3, "character": 30}}, "text": "5"})
for found in client.found(job):
    print("error:", found["code"], found["range"]["start"], found["message"].split("\n")[0])
    print("related:", [note["location"]["uri"].rsplit("/", 1)[1]
                       for note in found["relatedInformation"]])

# A text that is not saved counts for who imports it.
client.open(base, BASE.replace("heads = 16", "heads = 10"))
client.change(job, {"text": JOB.replace("tp = 4", "tp = 5")})
print("of base:", [found["code"] for found in client.found(job)])
client.change(base, {"text": BASE})
client.change(job, {"text": JOB})
print("mended:", client.found(job))

# A change of an import is a change of who imports it, wherever that is.
(folder / "sub").mkdir()
other = (folder / "sub" / "other.fore").as_uri()
client.open(other, JOB.replace('"base.fore"', '"../base.fore"'))
client.change(base, {"text": BASE.replace("heads = 16", "heads = 10")})
print("of importers:", [found["code"] for found in client.found(job)],
      [found["code"] for found in client.found(other)],
      [found["code"] for found in client.found(base)])
client.tell("textDocument/didClose", {"textDocument": {"uri": other}})
print("still of base:", [found["code"] for found in client.found(base)])
client.change(base, {"text": BASE})

# Characters of two UTF-16 units, and a broken file, which still completes.
client.change(job, {"text": "// \U0001f600 \u00fc\n" + JOB + "train { seq"})
print("broken:", [found["code"] for found in client.found(job)])
print("completes:", "sequence" in [item["label"] for item in
                                   client.about("completion", job, 5, 11)])
client.change(job, {"text": "parallel { tp_comm_overlap = \n"})
print("values:", [item["label"] for item in client.about("completion", job, 0, 29)])
client.change(job, {"text": 'import "'})
print("models:", "models/llama3-8b.fore" in [item["label"] for item in
                                             client.about("completion", job, 0, 8)])
client.change(job, {"text": JOB.replace("micro_batch", "micro_bach")})
fixed = client.about("codeAction", job, range={"start": {"line": 2, "character": 0},
                                               "end": {"line": 2, "character": 60}},
                     context={"diagnostics": []})
print("actions:", [action["title"] for action in fixed])
client.change(job, {"text": "train {sequence=1Ki}"})
print("formatted:", client.about("formatting", job)[0]["newText"].rstrip())

# What is no message is an error to the client, and the server goes on.
print("unknown:", client.about("moniker", job)["message"])
print("without a text:", client.ask("textDocument/none", {})["code"],
      client.ask("textDocument/hover", {}))
client.raw(b"Content-Length: 100000\r\n\r\n" + b"[" * 100000)
print("nested message:", client.receive()["error"]["code"])
client.raw(b"Content-Length: 9\r\n\r\n{ broken ")
print("broken message:", client.receive()["error"]["code"])
client.tell("textDocument/didClose", {"textDocument": {"uri": job}})
client.tell("textDocument/didChange", {"textDocument": {"uri": job}, "contentChanges": []})
print("exit:", client.end())
