# SPDX-License-Identifier: Apache-2.0
"""usage: exits.py CODE COMMAND...

Runs a command, and fails unless it exits with that code."""

import subprocess
import sys

code = subprocess.run(sys.argv[2:], check=False).returncode
sys.exit(0 if code == int(sys.argv[1]) else f"exit code {code}")
