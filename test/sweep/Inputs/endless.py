"""usage: endless.py JOB

A sweep of 10^15 points begins within a second, and needs no more memory the longer it
runs.
"""

import json
import subprocess
import sys
import time

AXES = ("parallel.world", "parallel.tp", "parallel.cp", "train.micro_batch",
        "train.sequence")


def memory(process):
    """Bytes of memory that it has."""
    with open(f"/proc/{process.pid}/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * 4096


begin = time.monotonic()
with subprocess.Popen(
        ["foretrace", "sweep", sys.argv[1], "--progress=json",
         *(f"--sweep={axis}=1..1000" for axis in AXES)],
        stderr=subprocess.PIPE, text=True) as process:
    first = json.loads(process.stderr.readline())
    print("begins in", "time" if time.monotonic() - begin < 10 else "no time")
    print("of", first["of"])
    used = []
    while time.monotonic() - begin < 12 and len(used) < 10:
        process.stderr.readline()
        used.append(memory(process))
    process.kill()
print("memory is", "bounded" if max(used) < 200e6 else f"{max(used)} bytes")
