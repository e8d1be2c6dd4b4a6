# SPDX-License-Identifier: Apache-2.0
"""usage: unfit.py JOB

Prints whether changes that make the job faster and fit come before those that do not fit.
"""

import sys

from server import Server

server = Server(sys.argv[1])
found = server.ask("/suggest", goal="faster")["suggestions"]
fits = [each.get("fits", True) for each in found]
usable = 85520809984 - (4 << 30)
print("as their peaks:", fits == [each["peak"] <= usable for each in found])
print("both kinds:", sorted(set(fits)))
print("those that fit first:", fits == sorted(fits, reverse=True))
for kind in True, False:
    times = [each["time"] for each, is_fitting in zip(found, fits) if is_fitting == kind]
    print("by time:", times == sorted(times))
server.close()
