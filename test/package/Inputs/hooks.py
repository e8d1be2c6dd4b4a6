# SPDX-License-Identifier: Apache-2.0
"""usage: hooks.py SOURCE_ROOT FILE...

Runs each hook of .pre-commit-hooks.yaml on the files that it is for, as pre-commit does,
and prints its exit status.
"""

import pathlib
import re
import shlex
import subprocess
import sys

import yaml

root = pathlib.Path(sys.argv[1])
for hook in yaml.safe_load((root / ".pre-commit-hooks.yaml").read_text(encoding="utf-8")):
    command = shlex.split(hook["entry"]) + hook.get("args", [])
    if hook["language"] == "script":
        command[0] = str(root / command[0])
    files = [name for name in sys.argv[2:] if re.search(hook["files"], name)]
    if not files:
        print(f"{hook['id']}: no files")
        continue
    run = subprocess.run([*command, *files], stdout=subprocess.PIPE,
                         stderr=subprocess.STDOUT, text=True, check=False)
    print(f"{run.stdout}{hook['id']}: {run.returncode}")
