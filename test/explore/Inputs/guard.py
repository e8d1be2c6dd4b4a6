# SPDX-License-Identifier: Apache-2.0
"""usage: guard.py FOLDER

Asks for what must be refused. FOLDER has a folder `job` with a job, and files beside it.
"""

import json
import os
import pathlib
import socket
import sys

from server import Server

folder = pathlib.Path(sys.argv[1])
server = Server(folder / "job" / "job.fore", "-I", folder / "shared")
here = f"127.0.0.1:{server.port}"


def code(method="GET", path="/job", body=None, **headers):
    return server.request(method, path, body, **headers)[0]


print("token:", code(), code(Authorization=None), code(Authorization="Bearer " + "0" * 64),
      code(Authorization="Bearer " + server.token[:-1]), code(Authorization=server.token))
print("token of the address:", code(path="/?token=" + server.token, Authorization=None),
      code(path="/?token=" + "0" * 64, Authorization=None),
      code(path="/job?token=" + server.token, Authorization=None))
print("host:", code(Host=here), code(Host=f"localhost:{server.port}"), code(Host="foretrace.example"),
      code(Host=f"127.0.0.1.example:{server.port}"), code(Host="127.0.0.1:1"), code(Host=""))
print("origin:", code(Origin="http://" + here), code(Origin="https://foretrace.example"),
      code(Origin="null"), code(Origin=f"https://{here}"))
print("methods:", code("PUT", "/compile", "{}"), code("DELETE", "/job"), code("OPTIONS", "/compile"))

addresses = set()
for line in pathlib.Path("/proc/net/tcp").read_text().splitlines()[1:]:
    address, port = line.split()[1].split(":")
    if int(port, 16) == server.port and line.split()[3] == "0A":
        addresses.add(socket.inet_ntoa(bytes.fromhex(address)[::-1]))
print("listens on:", *addresses)


def reads(text):
    """What of a text is wrong, and which files it must not read."""
    answer = server.ask("/compile", text=text)
    print(" ", [of["slug"] for of in answer["diagnostics"]],
          sorted({os.path.basename(path) for path in answer["denied"]}))


text = (folder / "job" / "job.fore").read_text()
print("imports:")
for name in ("inside.fore", "../outside.toml", str(folder / "outside.fore"), "link.fore", "../nothing.fore",
             "shared.fore", "../beside.fore", "/etc/passwd", "models/llama3-8b.fore"):
    alias = " as other" if name.endswith(".toml") else ""
    print(name.replace(str(folder), "FOLDER"))
    reads(text + f'\nimport "{name}"{alias}\n')

before = sorted(str(path) for path in folder.rglob("*"))
written = text.replace("{model}.txt", str(folder / "written.txt"))
print("legal with another file:", server.ask("/compile", text=written)["legal"])
server.ask("/suggest", goal="fit", text=written)
print("nothing is written:", sorted(str(path) for path in folder.rglob("*")) == before)



def is_refused(*arguments, **headers):
    """Whether a request is answered as too large, perhaps before all of it is sent."""
    try:
        return code(*arguments, **headers) in (400, 413)
    except OSError:
        return True
    finally:
        server.connection.close()


print("large:", is_refused("POST", "/compile", json.dumps({"text": " " * (3 << 20)})))
print("header:", is_refused(X_Long="x" * (64 << 10)))
codes = [code("GET", "/nothing") for _ in range(1200)]
print("too many:", set(codes) == {404, 429})
print("exit:", server.close())
