#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# Runs clang-tidy with the checks of .clang-tidy over all our sources that a
# build compiles. What Clang itself would warn of is the compilers' to say.
"""usage: tidy.py SOURCE_ROOT BUILD_DIR"""

import os
import pathlib
import re
import shutil
import subprocess
import sys

TIDY = "run-clang-tidy-19"
MISSING = 77  # as of a test that is skipped
FINDING = re.compile(r"^\S+:\d+:\d+: (?:error|warning): ")


def main():
    root, build = (pathlib.Path(path).resolve() for path in sys.argv[1:3])
    if not shutil.which(TIDY):
        print(f"clang-tidy: there is no {TIDY}; skipped")
        return MISSING
    folders = "lang|ir|frontend|passes|backends|tools|test"
    process = subprocess.run(
        [TIDY, "-quiet", f"-j{os.cpu_count()}", "-p", build,
         "-extra-arg=-Wno-error", f"^{re.escape(str(root))}/({folders})/"],
        check=False, cwd=root, text=True, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT)
    lines = process.stdout.splitlines()
    # A header's finding is told once for each file that includes it.
    found = list(dict.fromkeys(filter(FINDING.match, lines)))
    for line in found or (lines if process.returncode else []):
        print(line)
    print(f"clang-tidy: {len(found)} findings")
    return 1 if found or process.returncode else 0


if __name__ == "__main__":
    sys.exit(main())
