# SPDX-License-Identifier: Apache-2.0
"""usage: names.py FOLDER: definitions, uses and other names, colours and folds."""

import json
import pathlib
import sys

from client import Client, first_figure, place, shown_at, texts_of

folder = pathlib.Path(sys.argv[1]).absolute()
texts = texts_of(folder)
JOB = texts["job.fore"]
uris = {name: (folder / name).as_uri() for name in texts}
client = Client()
client.open(uris["job.fore"], JOB)
job = uris["job.fore"]


def show(location):
    return shown_at(folder, location["uri"], location["range"])


def applied(edit):
    """The texts with the edits."""
    result = {}
    for uri, edits in edit["changes"].items():
        name = uri.rsplit("/", 1)[1]
        lines = texts[name].split("\n")
        for one in sorted(edits, key=lambda e: (e["range"]["start"]["line"],
                                                e["range"]["start"]["character"]),
                          reverse=True):
            start, end = one["range"]["start"], one["range"]["end"]
            line = lines[start["line"]].encode("utf-16-le")
            lines[start["line"]] = (line[:2 * start["character"]].decode("utf-16-le")
                                    + one["newText"]
                                    + line[2 * end["character"]:].decode("utf-16-le"))
        result[name] = "\n".join(lines)
    return result


print("diagnostics:", client.found(job))
for word, nth in (("depth", 0), ("width", 3), ("width", 4), ("wide", 0), ("base", 1), ("pod", 1),
                  ("simai", 0), ("8", 0)):
    found = client.about("definition", job, *place(JOB, word, nth))
    print("definition:", word, nth, found and show(found))
for word, nth in (("depth", 0), ("m :", 0)):
    print("hover:", client.about("hover", job, *place(JOB, word, nth))["contents"]["value"]
          .replace("\n", "|").replace(first_figure("params", folder / "job.fore"), "<params>"))
print("references:", *map(show, client.about("references", job, *place(JOB, "depth"))))
print("uses:", *map(show, client.about("references", job, *place(JOB, "wide"),
                                       context={"includeDeclaration": False})))
print("may rename:", client.about("prepareRename", job, *place(JOB, "wide")),
      client.about("prepareRename", job, *place(JOB, "tp")))
for word, nth, new in (("depth", 0, "layer_count"), ("width", 0, "groups"),
                       ("width", 4, "shards"), ("wide", 0, "dense"), ("pod", 1, "machine")):
    renamed = applied(client.about("rename", job, *place(JOB, word, nth), newName=new))
    print("renamed:", word, nth, sorted(renamed), [text.count(new) for _, text in
                                                   sorted(renamed.items())])
    # The job with the new name has the same diagnostics: none.
    client.change(job, {"text": renamed.get("job.fore", JOB)})
    for name in set(renamed) - {"job.fore"}:
        client.open(uris[name], renamed[name])
    print("  diagnostics:", client.found(job))
    for name in set(renamed) - {"job.fore"}:
        client.tell("textDocument/didClose", {"textDocument": {"uri": uris[name]}})
    client.change(job, {"text": JOB})
for new in ("in", "4x", "wide"):
    print("refused:", client.about("rename", job, *place(JOB, "depth"), newName=new))
print("no name:", client.about("rename", job, *place(JOB, "tp"), newName="x"))

for uri, name in ((job, "job.fore"), (uris["base.fore"], "base.fore")):
    client.open(uri, texts[name])
    print("folds:", name, client.about("foldingRange", uri))

legend = client.capabilities["semanticTokensProvider"]["legend"]["tokenTypes"]
data = client.about("semanticTokens/full", job)["data"]
line = column = 0
lines = JOB.split("\n")
shown = []
for delta, start, length, kind, modifiers in zip(*[iter(data)] * 5):
    line, column = line + delta, start + (0 if delta else column)
    text = lines[line].encode("utf-16-le")[2 * column:2 * (column + length)].decode("utf-16-le")
    shown.append(f"{text}={legend[kind]}{'!' if modifiers else ''}")
print("tokens:", *shown)

call = client.about("signatureHelp", job, *place(JOB, ", 8"))
print("signature:", call["signatures"][0]["label"], call["activeParameter"])
call = client.about("signatureHelp", job, *place(JOB, " 8)"))
print("signature:", call["activeParameter"])
text = "layer mine(x) -> y {\n  y = mlp(x, "
client.change(job, {"text": text})
print("signature:", client.about("signatureHelp", job, 1, 12)["signatures"][0]["label"])

# A request that a later message cancels is not answered otherwise; what comes in one piece
# is read before the first of it is worked on.
messages = [{"id": 900 + i, "method": "textDocument/hover",
             "params": {"textDocument": {"uri": job}, "position": {"line": 0, "character": 0}}}
            for i in range(2)]
messages.insert(0, {"method": "textDocument/didChange", "params": {
    "textDocument": {"uri": job, "version": 3}, "contentChanges": [{"text": JOB * 200}]}})
messages.append({"method": "$/cancelRequest", "params": {"id": 901}})
pieces = b""
for message in messages:
    body = json.dumps({"jsonrpc": "2.0", **message}).encode()
    pieces += b"Content-Length: %d\r\n\r\n%b" % (len(body), body)
client.raw(pieces)
answers = {}
while len(answers) < 2:
    message = client.receive()
    if "id" in message:
        answers[message["id"]] = message.get("error", {}).get("code", "answered")
    else:
        client.take(message)
print("cancelled:", answers)
print("exit:", client.end())
