# SPDX-License-Identifier: Apache-2.0
#
# Ends a command once it has begun processes; expects that none of them goes on.
"""usage: stop_parts.py COMMAND..."""
import pathlib
import signal
import subprocess
import sys
import time


def parents():
    """The parent of each process."""
    found = {}
    for status in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = status.read_text().rpartition(")")[2].split()
        except OSError:
            continue  # it has ended
        if fields[0] != "Z":
            found[int(status.parent.name)] = int(fields[1])
    return found


signal.signal(signal.SIGTERM, signal.SIG_DFL)
with subprocess.Popen(sys.argv[1:]) as command:
    children = set()
    while len(children) < 2 and command.poll() is None:
        children = {p for p, parent in parents().items()
                    if parent == command.pid}
    time.sleep(0.02)
    command.send_signal(signal.SIGTERM)
if command.returncode != -signal.SIGTERM:
    sys.exit(f"was not interrupted, but: {command.returncode}")
end = time.monotonic() + 20
while left := children & parents().keys():
    if time.monotonic() > end:
        sys.exit(f"{len(left)} processes go on")
    time.sleep(0.01)
