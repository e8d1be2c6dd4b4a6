# SPDX-License-Identifier: Apache-2.0
#
# Runs a command whose last argument is the file it writes, interrupts it when
# the temporary file has content, and expects it to die of that.
import glob
import os
import signal
import subprocess
import sys
import time

PROCESS = subprocess.Popen(sys.argv[1:])
while PROCESS.poll() is None:
    if any(os.path.getsize(name) for name in glob.glob(sys.argv[-1] + ".*")):
        PROCESS.send_signal(signal.SIGTERM)
        break
    time.sleep(0.001)
sys.exit(0 if PROCESS.wait() == -signal.SIGTERM else "was not interrupted")
