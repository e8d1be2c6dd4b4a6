# SPDX-License-Identifier: Apache-2.0
"""usage: write.py JOB CHANGE...

Prints the text of the job with the changes written into it, and those that remain.
"""

import sys

from server import Server

server = Server(sys.argv[1])
answer = server.ask("/write", set=sys.argv[2:])
print(answer["text"], end="")
print("rest:", answer["rest"])
print("again:", server.ask("/compile", text=answer["text"], set=answer["rest"])["data"]
      == server.ask("/compile", set=sys.argv[2:])["data"] or "other places")
server.close()
