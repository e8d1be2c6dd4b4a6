# SPDX-License-Identifier: Apache-2.0
"""usage: remarks.py PAGE

Prints the text of a job that a report shows: each line, and what follows from it.
"""

import pathlib
import sys

import tool

data = tool.page_data(pathlib.Path(sys.argv[1]).read_text(encoding="utf-8"))
for source in data["sources"]:
    print(source["name"])
    for number, line in enumerate(source["lines"], 1):
        print(f"{number}: {line['text']}")
        for remark in line.get("remarks", []):
            value = remark["value"]
            print(" ", remark["title"], value["value"] if isinstance(value, dict) else value,
                  remark["unit"])
