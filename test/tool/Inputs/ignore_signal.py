# SPDX-License-Identifier: Apache-2.0
#
# Runs a command that ignores SIGHUP, as `nohup` does, and SIGINT, as what a script
# has in the background, and writes to PIPE, and to a file before it. Sends it both
# before it reads the pipe; expects that the command does not mind.
"""usage: ignore_signal.py PIPE COMMAND..."""
import os
import signal
import subprocess
import sys

os.mkfifo(sys.argv[1])
for ignored in (signal.SIGHUP, signal.SIGINT):
    signal.signal(ignored, signal.SIG_IGN)
with subprocess.Popen(sys.argv[2:]) as process:
    with open(sys.argv[1], "rb") as pipe:
        for ignored in (signal.SIGHUP, signal.SIGINT):
            process.send_signal(ignored)
        pipe.read()
sys.exit(process.returncode)
