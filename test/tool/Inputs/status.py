# SPDX-License-Identifier: Apache-2.0
#
# Runs a command and succeeds if its exit status is the first argument.
import subprocess
import sys

STATUS = subprocess.run(sys.argv[2:], check=False).returncode
if STATUS != int(sys.argv[1]):
    sys.exit(f"exit status {STATUS}, expected {sys.argv[1]}")
