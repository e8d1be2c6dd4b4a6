# SPDX-License-Identifier: Apache-2.0
#
# Runs a command whose standard error is a terminal and that writes to PIPE,
# which nobody reads for a while; prints what the terminal shows, a line for each
# return.
"""usage: on_terminal.py PIPE COMMAND..."""
import os
import pty
import subprocess
import sys
import time


def shown(terminal):
    """All that a terminal shows before nobody writes to it any more."""
    text = b""
    while True:
        try:
            chunk = os.read(terminal, 1 << 16)
        except OSError:
            chunk = b""
        if not chunk:
            return text.decode()
        text += chunk


def has_begun():
    """Whether there is the folder that files are written to."""
    folder = os.path.dirname(os.path.abspath(sys.argv[1]))
    return any(name.startswith(".foretrace-")
               for at in (folder, os.path.dirname(folder))
               for name in os.listdir(at))


os.mkfifo(sys.argv[1])
reader, terminal = pty.openpty()
with subprocess.Popen(sys.argv[2:], stderr=terminal) as process:
    os.close(terminal)
    while process.poll() is None and not has_begun():
        time.sleep(0.01)
    time.sleep(1)
    with open(sys.argv[1], "rb") as pipe:
        pipe.read()
    print(shown(reader).replace("\r\n", "\n").replace("\r", "\n")
          .replace("\033[K", "<cleared>"))
sys.exit(process.returncode)
