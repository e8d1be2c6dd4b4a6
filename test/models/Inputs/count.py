# SPDX-License-Identifier: Apache-2.0
"""usage: count.py TEST_FILE

Checks the tool's parameter counts of models against a closed form and
against what was published. The test file holds the forms and the models:

  total = EXPRESSION
  activated = EXPRESSION
  MODEL TOTAL [ACTIVATED] NAME=NUMBER...

The numbers of a model are those of its configuration, so nothing here comes
from the library."""

import pathlib
import re
import sys

import tool

FORM = re.compile(r"^(total|activated) = (.+)$", re.M)
MODEL = re.compile(r"^([\w.-]+)((?: +\d+)+)((?: +\w+=\d+)+)$", re.M)

text = pathlib.Path(sys.argv[1]).read_text(encoding="utf-8")
forms = dict(FORM.findall(text))
for name, published, config in MODEL.findall(text):
    numbers = {key: int(value) for key, value in re.findall(r"(\w+)=(\d+)", config)}
    # The forms are a file of ours, not input.
    derived = [eval(forms[form], {}, numbers)  # pylint: disable=eval-used
               for form in ("total", "activated") if form in forms]
    published = list(map(int, published.split()))
    counted = tool.document("params", "-", input=f'import "models/{name}.fore"\n')
    counted = [counted["published"], counted["activated"]][:len(published)]
    assert derived == published == counted, (name, published, derived, counted)
    print(f"{name}: {counted}")
