# SPDX-License-Identifier: Apache-2.0
"""usage: edits.py SEED JOBS EDITS FOLDER

Random edits of generated jobs, in UTF-16 positions: what the server says at the end is what it
says of the text anew.
"""

import pathlib
import random
import subprocess
import sys

from client import Client

SNIPPETS = ["{", "}", "=", "\n", " ", "\"", "//", "tp = 8", "train { ", "\u00fc", "\U0001f600", "4Ki",
            "layers", "import \"models/llama3-8b.fore\"\n", "attention mla { ", "0", ")"]


def place(text, at):
    """The position of a character of Python."""
    before = text[:at]
    line = before.rsplit("\n", 1)[-1]
    return {"line": before.count("\n"), "character": len(line.encode("utf-16-le")) // 2}


def main():
    seed, jobs, edits = map(int, sys.argv[1:4])
    folder = pathlib.Path(sys.argv[4]).absolute()
    subprocess.run(["generate-jobs", str(seed), str(jobs), str(folder)], check=True)
    rng = random.Random(seed)
    client = Client()
    stale = 0
    for path in sorted(folder.glob("*.fore")):
        uri, text = path.as_uri(), path.read_text(encoding="utf-8")
        client.open(uri, text)
        for _ in range(edits):
            begin = rng.randrange(len(text) + 1)
            end = min(len(text), begin + rng.choice([0, 0, 0, 1, 3, 20]))
            new = rng.choice(["", *SNIPPETS])
            client.change(uri, {"range": {"start": place(text, begin), "end": place(text, end)},
                                "text": new})
            text = text[:begin] + new + text[end:]
            if rng.random() < 0.2:
                method = rng.choice(["hover", "completion", "definition", "formatting", "inlayHint"])
                client.about(method, uri, **place(text, rng.randrange(len(text) + 1)))
        fresh = Client()
        fresh.open(uri, text)
        if client.found(uri) != fresh.found(uri):
            print(f"{path.name}: diagnostics are stale after {text!r}")
            stale += 1
        fresh.end()
        client.tell("textDocument/didClose", {"textDocument": {"uri": uri}})
    code = client.end()
    print(f"{jobs} jobs, {jobs * edits} edits, {stale} stale, exit code {code}")


main()
