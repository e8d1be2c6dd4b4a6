# SPDX-License-Identifier: Apache-2.0
"""usage: examples.py FOLDER

Runs the example that the help of each subcommand shows, in a folder whose `prepare.sh` makes its
inputs.
"""

import pathlib
import re
import subprocess
import sys

# Profiles need measured times, and servers a client.
NOT_RUN = {"calibrate", "explore", "fit", "infer", "lsp"}


def run(command, folder):
    done = subprocess.run(["sh", "-c", command], cwd=folder, capture_output=True, text=True,
                          check=False)
    if done.returncode:
        print(f"{command}: {done.returncode}\n{done.stderr}")


folder = pathlib.Path(sys.argv[1])
for command in (folder / "prepare.sh").read_text("utf-8").splitlines():
    run(command, folder)
help_text = subprocess.run(["foretrace", "--help"], capture_output=True, text=True,
                           check=True).stdout
commands = re.findall(r"^  (\w+) +- ", help_text, re.M)
ran = 0
for command in commands:
    text = subprocess.run(["foretrace", "help", command], capture_output=True, text=True,
                          check=True).stdout
    example = re.search(r"^Example:\n  (foretrace .*)$", text, re.M)
    if not example:
        print(f"{command}: no example")
    elif command not in NOT_RUN:
        run(re.split(r" > | \| ", example[1])[0], folder)
        ran += 1
print(f"{len(commands)} examples, {ran} run")
