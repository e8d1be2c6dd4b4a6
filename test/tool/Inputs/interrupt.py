# SPDX-License-Identifier: Apache-2.0
#
# Runs a command that writes to FOLDER, sends it a signal when a file there has
# content, and expects it to die of that.
"""usage: interrupt.py SIGNAL FOLDER COMMAND..."""
import pathlib
import signal
import subprocess
import sys
import time

SIGNAL = signal.Signals[sys.argv[1]]
FOLDER = pathlib.Path(sys.argv[2])


def has_begun():
    """Whether anything is written yet, to a file that may just go away."""
    for path in FOLDER.rglob("*"):
        try:
            if path.is_file() and path.stat().st_size:
                return True
        except FileNotFoundError:
            pass
    return False


signal.signal(SIGNAL, signal.SIG_DFL)  # who runs the tests may ignore it
with subprocess.Popen(sys.argv[3:]) as process:
    while process.poll() is None and not has_begun():
        time.sleep(0.001)
    process.send_signal(SIGNAL)
    try:
        process.wait(60)
    except subprocess.TimeoutExpired:
        process.kill()
    if process.wait() != -SIGNAL:
        sys.exit(f"was not interrupted, but: {process.returncode}")
