"""usage: with_path.py PATH COMMAND...

Runs a command that finds other programs on PATH only.
"""

import os
import shutil
import sys

program = shutil.which(sys.argv[2])
os.environ["PATH"] = sys.argv[1]
os.execv(program, sys.argv[2:])
