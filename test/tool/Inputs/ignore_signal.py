# SPDX-License-Identifier: Apache-2.0
#
# Runs a command that ignores SIGHUP, as `nohup` does, and writes to PIPE, and
# to a file before it. Hangs up on it before it reads the pipe; expects that the
# command does not mind.
"""usage: ignore_signal.py PIPE COMMAND..."""
import os
import signal
import subprocess
import sys

os.mkfifo(sys.argv[1])
signal.signal(signal.SIGHUP, signal.SIG_IGN)
with subprocess.Popen(sys.argv[2:]) as process:
    with open(sys.argv[1], "rb") as pipe:
        process.send_signal(signal.SIGHUP)
        pipe.read()
sys.exit(process.returncode)
