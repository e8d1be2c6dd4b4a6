# SPDX-License-Identifier: Apache-2.0
"""usage: check_json.py FILE

Checks that what `foretrace diff --format=json` wrote is of the documented form,
and prints its keys, in order of their names, and its figures."""

import json
import sys

UNITS = {"text", "count", "bytes", "flops", "millionths"}


def describe(key):
    """`4 stated at 7:21`."""
    if key is None:
        return "-"
    assert key["how"] in ("default", "derived", "stated"), key
    at = f" at {key['line']}:{key['column']}" if "file" in key else ""
    return f"{key['value']} {key['how']}{at}"


with open(sys.argv[1], encoding="utf-8") as file:
    found = json.load(file)
assert found["schema"] == "foretrace.diff/2"
assert list(found) == ["schema", "same", "before", "after", "diagnostics",
                       "keys", "notes", "figures"], list(found)
assert found["same"] is False
for side in ("before", "after"):
    assert set(found[side]) == {"job", "refused"}
for key in sorted(found["keys"], key=lambda k: k["key"]):
    assert key["before"] != key["after"], key
    print(f"{key['key']}: {describe(key['before'])} -> "
          f"{describe(key['after'])}")
paths = {key["key"] for key in found["keys"]}
for figure in found["figures"]:
    if figure["answer"] != "summary":
        continue  # what a backend answers, others test
    assert figure["unit"] in UNITS, figure
    assert figure["before"] != figure["after"], figure
    assert set(figure["by"]) <= paths, figure
    print(figure["table"], *figure.get("stages", ()), *figure["row"], figure["figure"],
          figure["unit"], figure["before"], figure["after"], figure["by"],
          figure["together"])
