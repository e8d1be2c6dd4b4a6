"""usage: locked.py DATABASE JOB

Runs a sweep while another process holds the lock of its database, and once more.
"""

import fcntl
import subprocess
import sys


def sweep():
    code = subprocess.run(
        ["foretrace", "sweep", sys.argv[2], "--sweep", "parallel.pp=1,2",
         "-o", sys.argv[1], "--quiet"], check=False).returncode
    print("exit code", code, flush=True)


with open(sys.argv[1] + ".lock", "w", encoding="ascii") as lock:
    fcntl.lockf(lock, fcntl.LOCK_EX)
    sweep()
sweep()
