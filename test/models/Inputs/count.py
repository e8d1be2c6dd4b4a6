#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# Checks the tool's parameter counts of models against a closed form and
# against what was published. The test file holds the forms and the models:
#
#   total = EXPRESSION
#   activated = EXPRESSION
#   MODEL TOTAL [ACTIVATED] NAME=NUMBER...
#
# The numbers of a model are those of its configuration, so nothing here comes
# from the library.
"""usage: count.py TEST_FILE"""

import pathlib
import re
import subprocess
import sys
import tempfile

FORM = re.compile(r"^(total|activated) = (.+)$", re.M)
MODEL = re.compile(r"^([\w.-]+)((?: +\d+)+)((?: +\w+=\d+)+)$", re.M)

JOB = """import "models/{}.fore"
train {{ sequence = 128  micro_batch = 1 }}
parallel {{ world = 1 }}
"""


def compiled(name, folder):
    """Total and activated parameters as the tool prints them."""
    job = pathlib.Path(folder, "job.fore")
    job.write_text(JOB.format(name), encoding="utf-8")
    text = subprocess.run(
        ["foretrace", "params", str(job), "--exact"],
        check=True, stdout=subprocess.PIPE, text=True).stdout
    return [int(N) for N in re.findall(r"^(?:parameters|active parameters): (\d+)$",
                                       text, re.M)]


def main():
    text = pathlib.Path(sys.argv[1]).read_text(encoding="utf-8")
    forms = dict(FORM.findall(text))
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        for name, published, config in MODEL.findall(text):
            numbers = {key: int(value)
                       for key, value in re.findall(r"(\w+)=(\d+)", config)}
            # The forms are a file of ours, not input.
            derived = [eval(forms[form], {}, numbers)  # pylint: disable=W0123
                       for form in ("total", "activated") if form in forms]
            published = [int(N) for N in published.split()]
            printed = compiled(name, folder)[:len(published)]
            if not derived == published == printed:
                failed = True
                print(f"{name}: published {published}, derived {derived}, "
                      f"compiled {printed}")
            else:
                print(f"{name}: {printed}")
    return failed


if __name__ == "__main__":
    sys.exit(main())
