# SPDX-License-Identifier: Apache-2.0
"""usage: imports.py FOLDER: names of files that a project file says where to find."""

import pathlib
import sys

from client import Client

MODEL = """ {
  vocab = 32000   hidden = 1024
  attention mha { heads = 16 }
  ffn { intermediate = 4096 }
  layers = depth
}
"""
JOB = """import "base.fore"
import "deep/depth.fore"
import "models/gpt3-125m.fore"
model m : base { layers = depth }
model n : gpt3_125m { layers = 2 }
"""
folder = pathlib.Path(sys.argv[1]).absolute()
texts = {"foretrace.toml": 'imports = ["ours"]\n',
         "ours/base.fore": 'model base' + MODEL.replace("depth", "4"),
         "ours/deep/depth.fore": "let depth = 4\n", "jobs/job.fore": JOB}
for name, text in texts.items():
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text, encoding="utf-8")
client = Client()
job = (folder / "jobs/job.fore").as_uri()
client.open(job, JOB)


def place(word):
    at = JOB.index(word)
    return JOB[:at].count("\n"), at - JOB.rfind("\n", 0, at) - 1


def show(uri, where):
    start = where["start"]
    name = uri.removeprefix(folder.as_uri() + "/")
    return f"{name}:{start['line'] + 1}:{start['character']}"


def definition(word, at):
    found = client.about("definition", job, *place(at))
    return found and show(found["uri"], found["range"])


print("diagnostics:", *(found["code"] for found in client.found(job)))
for word, at in (("base", "base {"), ("depth", "depth }"), ("ours/base.fore", "base.fore"),
                 ("models/gpt3-125m.fore", "models/"), ("gpt3_125m", "gpt3_125m")):
    print("definition:", word, definition(word, at))
print("references:", *sorted(show(found["uri"], found["range"]) for found in
                             client.about("references", job, *place("base {"))))
changes = client.about("rename", job, *place("base {"), newName="ground")["changes"]
print("renamed:", *sorted(show(uri, edit["range"])
                          for uri, edits in changes.items() for edit in edits))
print("library:", client.about("rename", job, *place("gpt3_125m"), newName="ground"))
(folder / "jobs/base.fore").write_text(texts["ours/base.fore"], encoding="utf-8")
print("beside wins:", definition("base", "base {"))
print("exit:", client.end())
