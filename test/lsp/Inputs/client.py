# SPDX-License-Identifier: Apache-2.0
"""A client of the language server for tests."""

import json
import subprocess


def first_figure(command, job):
    """The first number that a command prints of a job, with its unit."""
    answer = subprocess.run(["foretrace", command, job], check=True,
                            stdout=subprocess.PIPE, text=True).stdout
    return answer.splitlines()[0].split(": ")[1]


def texts_of(folder):
    """The texts of all files below a folder, by name."""
    return {path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8")
            for path in folder.rglob("*.*") if path.is_file()}


def place(text, word, nth=0):
    """Line and column, in UTF-16, of a word."""
    at = -1
    for _ in range(nth + 1):
        at = text.index(word, at + 1)
    before = text[:at].rpartition("\n")
    return text[:at].count("\n"), len(before[2].encode("utf-16-le")) // 2


def shown_at(folder, uri, of):
    """The beginning of a range, as people read it."""
    name = uri.removeprefix(folder.as_uri() + "/")
    return f"{name}:{of['start']['line'] + 1}:{of['start']['character']}"


class Client:
    """Starts the server; texts are opened, changed and asked about."""

    def __init__(self):
        self.server = subprocess.Popen(["foretrace", "lsp"], stdin=subprocess.PIPE,
                                       stdout=subprocess.PIPE)
        self.ids = 0
        self.diagnostics = {}
        self.texts = {}
        self.capabilities = self.ask("initialize", {"capabilities": {}})["capabilities"]
        self.tell("initialized", {})

    def send(self, message):
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.raw(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))

    def raw(self, data):
        self.server.stdin.write(data)
        self.server.stdin.flush()

    def tell(self, method, params):
        self.send({"method": method, "params": params})

    def receive(self):
        size = 0
        while (line := self.server.stdout.readline().strip()):
            name, value = line.split(b":")
            assert name.lower() == b"content-length", line
            size = int(value)
        assert size, "the server has ended"
        return json.loads(self.server.stdout.read(size))

    def ask(self, method, params):
        """The result of a request; its error, if it has one."""
        self.ids += 1
        self.send({"id": self.ids, "method": method, "params": params})
        while True:
            message = self.receive()
            if message.get("id") == self.ids:
                return message.get("error") or message["result"]
            self.take(message)

    def take(self, message):
        if message["method"] == "textDocument/publishDiagnostics":
            self.diagnostics[message["params"]["uri"]] = message["params"]["diagnostics"]

    def open(self, uri, text):
        self.texts[uri] = text
        self.tell("textDocument/didOpen", {"textDocument": {
            "uri": uri, "languageId": "fore", "version": 1, "text": text}})

    def change(self, uri, *changes):
        self.tell("textDocument/didChange", {
            "textDocument": {"uri": uri, "version": 2}, "contentChanges": list(changes)})

    def about(self, method, uri, line=0, character=0, **more):
        return self.ask("textDocument/" + method, {
            "textDocument": {"uri": uri}, "position": {"line": line, "character": character},
            **more})

    def found(self, uri):
        """The diagnostics of a text, after all that was sent."""
        self.about("documentSymbol", uri)
        return self.diagnostics.get(uri, [])

    def end(self):
        self.ask("shutdown", {})
        self.tell("exit", {})
        return self.server.wait(timeout=60)
