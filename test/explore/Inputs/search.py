# SPDX-License-Identifier: Apache-2.0
"""usage: search.py JOB

Looks for what makes the job faster, and moves keys meanwhile; begins another search; opens
more connections than the server has at a time; stops the server while it searches.
"""

import concurrent.futures
import http.client
import json
import socket
import sys
import time

from server import Server

server = Server(sys.argv[1])


def post(path, **members):
    """Code and answer, on a connection of its own."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    connection.request("POST", path, json.dumps(members), {"Authorization": f"Bearer {server.token}"})
    answer = connection.getresponse()
    return answer.status, json.loads(answer.read())


with concurrent.futures.ThreadPoolExecutor() as threads:
    search = threads.submit(post, "/suggest", goal="faster")
    moves = 0
    while not search.done():
        tp = 2 ** (1 + moves % 3)
        answer = server.ask("/compile", set=[f"parallel.tp={tp}"])
        axes = {axis["axis"]: axis["size"] for axis in answer["data"]["plan"]["parallel"]["mesh"]}
        if axes["tp"]["value"] != str(tp):
            sys.exit(f"{axes['tp']} is not tp = {tp}")
        moves += not search.done()
    code, found = search.result()
    print("moves meanwhile:", moves > 2)
    print("found:", code, len(found["suggestions"]) > 0)
    print("the same alone:", post("/suggest", goal="faster")[1] == found)

    searches = [threads.submit(post, "/suggest", goal="faster", set=[f"train.global_batch={256 * (each + 1)}"])
                for each in range(3)]
    codes = sorted(each.result()[0] for each in searches)
    print("the last one stays:", codes, {each.result()[1].get("error") for each in searches if each.result()[0] != 200})

sockets = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(80)]
waiting = concurrent.futures.ThreadPoolExecutor().submit(post, "/compile")
try:
    waiting.result(0.3)
    print("was served beside 80 connections")
except concurrent.futures.TimeoutError:
    print("waits beside 80 connections")
for each in sockets:
    each.close()
server.connection.close()  # it may have been idle for so long that the server closed it
print("then:", waiting.result(30)[0])

with socket.create_connection(("127.0.0.1", server.port)) as left:
    body = json.dumps({"goal": "faster"})
    left.sendall(f"POST /suggest HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\nAuthorization: Bearer {server.token}\r\n"
                 f"Content-Length: {len(body)}\r\n\r\n{body}".encode())
    server.ask("/compile")  # a later request: the search has begun
    began = time.monotonic()
    print("exit:", server.close(), time.monotonic() - began < 5)
