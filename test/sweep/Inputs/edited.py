# SPDX-License-Identifier: Apache-2.0
#
# Edits, and then removes, the job of a sweep while the sweep reads it for each of
# many words; prints the figures that the points have.
"""usage: edited.py JOB DATABASE"""
import os
import pathlib
import subprocess
import sys
import time

JOB, DATABASE = map(pathlib.Path, sys.argv[1:3])
WORDS = ",".join(f'"{number}"' for number in range(1500))
TEXT = JOB.read_text(encoding="utf-8")

with subprocess.Popen(["foretrace", "sweep", JOB, "--threads=1", "--quiet",
                       "--sweep", f"tag={WORDS}", "-o", DATABASE],
                      stdout=subprocess.DEVNULL) as sweep:
    while sweep.poll() is None and not DATABASE.exists():
        time.sleep(0.001)
    JOB.write_text(TEXT.replace("layers = 4", "layers = 8"), encoding="utf-8")
    time.sleep(0.05)
    os.remove(JOB)
print("exit code", sweep.returncode, flush=True)
subprocess.run(["foretrace", "sweep", "-o", DATABASE, "--query",
                "SELECT count(*), count(DISTINCT peak) FROM points"],
               check=True)
