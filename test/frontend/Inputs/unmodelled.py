# SPDX-License-Identifier: Apache-2.0
"""usage: unmodelled.py TABLE KEYS

Counts the names of frontend/Unmodelled.def; none may be there twice, or be a key of the
language, of which KEYS has one in each line of JSON.
"""
import collections
import json
import pathlib
import re
import sys

ROW = re.compile(r'^(?:NO_EFFECT|NOT_MODELLED|OTHERWISE)\(((?:"[^"]*"\s*)+)', re.M)


def main():
    table, listed = (pathlib.Path(name).read_text(encoding="utf-8") for name in sys.argv[1:3])
    names = collections.Counter(
        word for row in ROW.findall(table)
        for word in "".join(re.findall(r'"([^"]*)"', row)).split())
    keys = {json.loads(line)["key"].partition(".")[2] for line in listed.splitlines()}
    wrong = [name for name, count in names.items() if count > 1 or name in keys]
    if wrong:
        sys.exit(f"known keys, or twice: {wrong}")
    print(len(names), "names")


if __name__ == "__main__":
    main()
