# SPDX-License-Identifier: Apache-2.0
"""usage: unfit.py JOB

Prints whether the job fits with each change that makes it faster.
"""

import sys

from server import Server

server = Server(sys.argv[1])
found = server.ask("/suggest", goal="faster")["suggestions"]
usable = 85520809984 - (4 << 30)
print("changes:", len(found))
print("fit:", all(each["peak"] <= usable for each in found))
times = [each["time"] for each in found]
print("by time:", times == sorted(times))
server.close()
