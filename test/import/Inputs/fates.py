# SPDX-License-Identifier: Apache-2.0
"""usage: fates.py SOURCE_ROOT

Asks `foretrace plan` about each key of the pages that a job answers from, and compares what it
says with the page, i.e. with what an import says. Prints each difference, and how many keys
are not modelled, have no effect and are keys of jobs by another name."""

import collections
import json
import pathlib
import re
import sys

import import_tables
import tool

ROOT = pathlib.Path(sys.argv[1])
PAGES = "jobs megatron/flags huggingface/transformer deepspeed"
CHUNK = 18  # fewer than the errors that a run prints
CALLED = {"alias-of-key", "said-otherwise", "key-of-section"}


def said(keys):
    """What a job says to each key, by name."""
    job = ("model m { vocab = 512  hidden = 64  attention mha { heads = 4 }  layers = 4 }\n"
           "train { sequence = 32  micro_batch = 1  " + " ".join(f"{key} = 1" for key in keys) +
           " }\nparallel { world = 8 }\n")
    lines = tool.attempt("plan", "-", "--diagnostics=json", input=job).stderr.splitlines()
    return {re.match("`([^`]+)`", row["message"])[1]: row
            for row in map(json.loads, lines) if row["message"].startswith("`")}


no_effect, not_modelled = import_tables.fates(ROOT, PAGES)
without_effect = {word for words in no_effect.values() for word in words if "*" not in word}
own, others = (import_tables.fates(ROOT, page)[1] for page in PAGES.split(maxsplit=1))
for name in own.keys() & others.keys():
    print(f"{name}: in two pages")
here = {row["key"].partition(".")[2] for row in tool.rows("list", "keys")}
names = sorted(name for name in (without_effect | not_modelled.keys()) - here
               if name.isidentifier())
counts = collections.Counter()
for start in range(0, len(names), CHUNK):
    chunk = names[start:start + CHUNK]
    rows = said(chunk)
    for name in chunk:
        row = rows.get(name, {"slug": "nothing", "message": ""})
        counts[row["slug"]] += 1
        if row["slug"] == "not-modelled":
            expected = f"`{name}` is not modelled; {not_modelled.get(name)}"
            if row["message"] != expected:
                print(f"{row['message']}: expected {expected}")
        elif row["slug"] == "no-effect-here":
            if name not in without_effect or name in not_modelled:
                print(f"{name}: without effect in a job alone")
        elif row["slug"] != "unknown-key" or row["notes"][0]["slug"] not in CALLED:
            print(f"{name}: {row['slug']}, {row['message']}")
for slug, count in sorted(counts.items()):
    print(f"{slug}: {count}")
