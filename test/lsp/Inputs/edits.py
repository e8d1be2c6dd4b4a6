# SPDX-License-Identifier: Apache-2.0
"""usage: edits.py SEED JOBS EDITS FOLDER

Random edits of generated jobs, in UTF-16 positions: the diagnostics at the end are those of a
server that opens the text anew, and memory is bounded. Half of the edits are undone, so that
jobs with few errors are edited, too.
"""

import pathlib
import random
import re
import subprocess
import sys

from client import Client

SNIPPETS = ["{", "}", "=", "\n", " ", "\"", "//", "tp = 8", "train { ", "\u00fc", "\U0001f600", "4Ki",
            "layers", "import \"models/llama3-8b.fore\"\n", "attention mla { ", "0", ")"]

# In MiB: the address sanitizer keeps 256 MiB of freed memory.
MOST_GROWTH = 300
METHODS = ["hover", "completion", "definition", "formatting", "inlayHint", "references",
           "prepareRename", "foldingRange", "semanticTokens/full", "signatureHelp"]


def place(text, at):
    """The position of a character of Python."""
    before = text[:at]
    line = before.rsplit("\n", 1)[-1]
    return {"line": before.count("\n"), "character": len(line.encode("utf-16-le")) // 2}


def resident(process):
    """Memory of a process, in MiB."""
    status = pathlib.Path(f"/proc/{process.pid}/status").read_text(encoding="ascii")
    return int(re.search(r"^VmRSS:\s+(\d+) kB", status, re.M).group(1)) // 1024


class Text:
    """A text that is open, and its edits."""

    def __init__(self, client, uri, text):
        self.client, self.uri, self.text = client, uri, text
        client.open(uri, text)

    def replace(self, begin, end, new):
        """Sends an edit; returns the one that undoes it."""
        old = self.text[begin:end]
        self.client.change(self.uri, {"range": {"start": place(self.text, begin),
                                                "end": place(self.text, end)}, "text": new})
        self.text = self.text[:begin] + new + self.text[end:]
        return begin, begin + len(new), old


def edit(text, rng):
    """Edits at random, undoes that or leaves it, and asks about a place."""
    begin = rng.randrange(len(text.text) + 1)
    end = min(len(text.text), begin + rng.choice([0, 0, 0, 1, 3, 20]))
    undo = text.replace(begin, end, rng.choice(["", *SNIPPETS]))
    if rng.random() < 0.2:
        text.client.about(rng.choice(METHODS), text.uri,
                          **place(text.text, rng.randrange(len(text.text) + 1)))
    if rng.random() < 0.5:
        text.replace(*undo)


seed, jobs, edits = map(int, sys.argv[1:4])
folder = pathlib.Path(sys.argv[4]).absolute()
subprocess.run(["generate-jobs", str(seed), str(jobs), str(folder)], check=True)
rng = random.Random(seed)
client = Client()
stale = 0
memory = []
for path in sorted(folder.glob("*.fore")):
    text = Text(client, path.as_uri(), path.read_text(encoding="utf-8"))
    for _ in range(edits):
        edit(text, rng)
    fresh = Client()
    fresh.open(text.uri, text.text)
    if client.found(text.uri) != fresh.found(text.uri):
        print(f"{path.name}: diagnostics are stale after {text.text!r}")
        stale += 1
    fresh.end()
    client.tell("textDocument/didClose", {"textDocument": {"uri": text.uri}})
    memory.append(resident(client.server))
code = client.end()
print(f"{jobs} jobs, {jobs * edits} edits, {stale} stale, exit code {code}")
grown = max(memory) - memory[0]
print(f"memory: {memory[0]} MiB after the first job, {memory[-1]} MiB after the last")
print(f"grows by at most {MOST_GROWTH} MiB: {grown <= MOST_GROWTH}")
