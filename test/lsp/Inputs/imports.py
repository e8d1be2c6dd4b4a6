# SPDX-License-Identifier: Apache-2.0
"""usage: imports.py FOLDER: names of files that a project file says where to find."""

import pathlib
import sys

from client import Client, place, shown_at, texts_of

folder = pathlib.Path(sys.argv[1]).absolute()
texts = texts_of(folder)
JOB = texts["jobs/job.fore"]
client = Client()
job = (folder / "jobs/job.fore").as_uri()
client.open(job, JOB)


def definition(word, at):
    found = client.about("definition", job, *place(JOB, at))
    return found and shown_at(folder, found["uri"], found["range"])


print("diagnostics:", *(found["code"] for found in client.found(job)))
for word, at in (("base", "base {"), ("depth", "depth }"), ("ours/base.fore", "base.fore"),
                 ("models/gpt3-125m.fore", "models/"), ("gpt3_125m", "gpt3_125m")):
    print("definition:", word, definition(word, at))
print("references:", *sorted(shown_at(folder, found["uri"], found["range"]) for found in
                             client.about("references", job, *place(JOB, "base {"))))
changes = client.about("rename", job, *place(JOB, "base {"), newName="ground")["changes"]
print("renamed:", *sorted(shown_at(folder, uri, edit["range"])
                          for uri, edits in changes.items() for edit in edits))
print("library:", client.about("rename", job, *place(JOB, "gpt3_125m"), newName="ground"))
(folder / "jobs/base.fore").write_text(texts["ours/base.fore"], encoding="utf-8")
print("beside wins:", definition("base", "base {"))
print("exit:", client.end())
