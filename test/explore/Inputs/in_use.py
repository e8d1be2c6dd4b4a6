# SPDX-License-Identifier: Apache-2.0
"""usage: in_use.py JOB

Prints the exit code and the message of a server whose port is in use.
"""

import socket
import subprocess
import sys

with socket.create_server(("127.0.0.1", 0)) as taken:
    port = taken.getsockname()[1]
    done = subprocess.run(["foretrace", "explore", sys.argv[1], f"--port={port}"], capture_output=True, text=True)
    print(done.returncode, done.stderr.strip())
