# SPDX-License-Identifier: Apache-2.0
"""usage: hostile.py SEED COUNT JOB CORPUS

Sends COUNT requests that no page sends: damaged ones, bodies of other kinds, texts of
the corpus of a fuzzer. The server must answer good ones in between, and stop in order.
"""

import json
import pathlib
import random
import socket
import sys

from server import Server

random.seed(int(sys.argv[1]))
count = int(sys.argv[2])
server = Server(sys.argv[3])
texts = [path.read_bytes().decode("utf-8", "replace") for path in sorted(pathlib.Path(sys.argv[4]).iterdir())]
PATHS = ["/", "/job", "/compile", "/controls", "/values", "/suggest", "/compare", "/export", "/write",
         "/../job", "//compile", "/compile/", "/%00", "/?token=", "*", "http://example.org/compile", ""]
KEYS = ["parallel.tp", "train.recompute", "model.layers", "parallel.layout", "model.attention.heads", "cluster.nodes",
        "cost.device.peak_flops", "nothing", "", "a.b.c.d.e.f.g.h.i.j"]
VALUES = ["1", "2", "0", "-1", "9223372036854775807", "1e400", "full", '"', "[1, 2]", "((((", "if", "", "\0", "é",
          "1/0", "x" * 3000]


def member():
    return random.choice([None, True, 1, -1e300, "x", [], {}, [[[[]]]], {"a": {"b": {}}}, [1, "parallel.tp=2"]])


def variant():
    """What a page sends, or nearly."""
    made = {}
    if random.random() < 0.5:
        made["text"] = random.choice(texts)[:20000] if random.random() < 0.9 else member()
    if random.random() < 0.7:
        made["set"] = ([f"{random.choice(KEYS)}={random.choice(VALUES)}" for _ in range(random.randrange(4))]
                       if random.random() < 0.9 else member())
    return made


def body():
    made = {**variant(), "keys": random.choice([[random.choice(KEYS)], member()]),
            "goal": random.choice(["fit", "faster", member()]),
            "to": random.choice(["command", "megatron", "nemo", member()]),
            "before": random.choice([variant(), member()]), "after": random.choice([variant(), member()])}
    text = json.dumps(made).encode()
    kind = random.random()
    if kind < 0.1:
        return text[:random.randrange(len(text))]
    if kind < 0.2:
        at = random.randrange(len(text))
        return text[:at] + bytes([random.randrange(256)]) + text[at + 1:]
    if kind < 0.25:
        return b"[" * random.randrange(1000)
    return text


def request():
    data = body()
    length = len(data) if random.random() < 0.9 else random.choice([-1, 0, len(data) + 7, 1 << 40, "x"])
    token = server.token if random.random() < 0.9 else random.choice(["", "x" * 64, server.token[:-1]])
    head = [f"{random.choice(['POST', 'POST', 'POST', 'GET', 'PUT', 'X' * 40, ''])} {random.choice(PATHS)} "
            f"{random.choice(['HTTP/1.1', 'HTTP/1.1', 'HTTP/1.0', 'HTTP/9.9', ''])}",
            f"Host: {random.choice([f'127.0.0.1:{server.port}'] * 8 + ['example.org', ''])}",
            f"Authorization: Bearer {token}", f"Content-Length: {length}"]
    if random.random() < 0.1:
        head.append(random.choice(["Transfer-Encoding: chunked", "Expect: 100-continue", "Connection: close",
                                   "Upgrade: websocket", "X: " + "y" * 9000, ": ", "no header", "Range: bytes=5-1"]))
    random.shuffle(head[1:])
    return "\r\n".join(head).encode() + b"\r\n\r\n" + data


answered = closed = 0
for index in range(count):
    with socket.create_connection(("127.0.0.1", server.port), timeout=60) as connection:
        try:
            connection.sendall(request())
            connection.shutdown(socket.SHUT_WR)
            if random.random() < 0.97:  # others hang up
                if connection.recv(1 << 16).startswith(b"HTTP/1."):
                    answered += 1
                else:
                    closed += 1
        except OSError:
            closed += 1
    if index % 100 == 0:
        assert server.request("GET", "/job")[0] in (200, 429)
        server.connection.close()
print("most are answered:", answered > count / 2)
print("legal:", server.request("POST", "/compile", "{}")[0] in (200, 429))
print("exit:", server.close())
