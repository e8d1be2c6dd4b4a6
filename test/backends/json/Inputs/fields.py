"""usage: fields.py PAGE DOCUMENT...

Holds the fields of documents of `emit json` against the table of the page: all
that are there stand in it, and the other way round.
"""

import json
import pathlib
import re
import sys

import tool

ROW = re.compile(r"^\| `([\w.\[\]]+)` \| \S", re.M)


def fields(value, path):
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from fields(inner, f"{path}.{key}" if path else key)
    elif isinstance(value, list):
        for inner in value:
            yield from fields(inner, path + "[]")
    else:
        yield path


page = pathlib.Path(sys.argv[1]).read_text(encoding="utf-8")
# The table of the options has other columns.
documented = ROW.findall(page.split("<!-- keys")[0])
assert len(documented) == len(set(documented)), "a field stands twice in the table"
written = set()
for name in sys.argv[2:]:
    written |= set(fields(json.loads(pathlib.Path(name).read_text("utf-8")), ""))
tool.report([*(f"not documented: {field}" for field in sorted(written - set(documented))),
             *(f"not written: {field}" for field in sorted(set(documented) - written))],
            f"{len(written)} fields")
