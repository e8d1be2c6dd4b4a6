# SPDX-License-Identifier: Apache-2.0
#
# Runs a command that ignores SIGHUP, as `nohup` does, SIGINT, as what a script has
# in the background, and SIGPIPE and SIGUSR1, as some services do, and writes to PIPE,
# and to a file before it. Sends it all of them before it reads the pipe; expects that
# the command does not mind.
"""usage: ignore_signal.py PIPE COMMAND..."""
import os
import signal
import subprocess
import sys

IGNORED = (signal.SIGHUP, signal.SIGINT, signal.SIGPIPE, signal.SIGUSR1)

os.mkfifo(sys.argv[1])
for ignored in IGNORED:
    signal.signal(ignored, signal.SIG_IGN)
with subprocess.Popen(sys.argv[2:], restore_signals=False) as process:
    with open(sys.argv[1], "rb") as pipe:
        for ignored in IGNORED:
            process.send_signal(ignored)
        pipe.read()
sys.exit(process.returncode)
