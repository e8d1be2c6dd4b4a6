# SPDX-License-Identifier: Apache-2.0
#
# Ends a merge at several moments; prints what it leaves then, beside a whole file.
"""usage: stop_merge.py SHARD... OUTPUT"""
import pathlib
import signal
import subprocess
import sys
import time

OUTPUT = pathlib.Path(sys.argv[-1])
COMMAND = ["foretrace", "merge", *sys.argv[1:-1], "-o", OUTPUT]

signal.signal(signal.SIGTERM, signal.SIG_DFL)
begin = time.monotonic()
subprocess.run(COMMAND, check=True)
duration = time.monotonic() - begin
ended = 0
for step in range(12):
    OUTPUT.unlink(missing_ok=True)
    with subprocess.Popen(COMMAND) as merge:
        time.sleep(duration * step / 10)
        merge.terminate()
    ended += merge.returncode == -signal.SIGTERM
    # An empty lock does no harm.
    left = {p.name for p in OUTPUT.parent.glob(OUTPUT.name + "?*")
            if p.suffix != ".lock" or p.stat().st_size}
    if left:
        print(f"step {step} leaves {sorted(left)}")
print("some were ended" if ended else "none was ended")
