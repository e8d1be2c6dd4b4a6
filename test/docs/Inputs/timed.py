# SPDX-License-Identifier: Apache-2.0
"""usage: timed.py SOURCE_ROOT

Times every example of docs/examples as it is. Prints a line for each: its name, the exit code, the
time, and the slugs of its diagnostics.
"""

import pathlib
import re
import sys

import tool

for job in sorted(pathlib.Path(sys.argv[1], "docs/examples").glob("*.fore")):
    done = tool.attempt("time", job)
    slugs = sorted(set(re.findall(r"\[([a-z][a-z0-9-]*)\]$", done.stderr, re.M)))
    time = re.search(r"^(?:estimated time of an iteration|time per output token): (.*)$", done.stdout, re.M)
    print(f"{job.name}: {done.returncode}, {time[1] if time else 'no time'}",
          *slugs)
