# SPDX-License-Identifier: Apache-2.0
#
# Runs a command whose standard output nobody reads beyond the first line, and
# prints how it ended.
import subprocess
import sys

with subprocess.Popen(sys.argv[1:], stdout=subprocess.PIPE,
                      stderr=subprocess.PIPE, text=True) as process:
    process.stdout.readline()
    process.stdout.close()
    said = process.stderr.read()
    status = process.wait()
print(f"ended by signal {-status}" if status < 0 else f"exit status {status}",
      f"said {said!r}" if said else "said nothing", sep=", ")
