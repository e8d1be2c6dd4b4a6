# SPDX-License-Identifier: Apache-2.0
"""usage: remarks.py PAGE

Prints the text of a job that a report shows: each line, and what follows from it.
"""

import json
import pathlib
import re
import sys


def main():
    text = pathlib.Path(sys.argv[1]).read_text(encoding="utf-8")
    data = json.loads(re.search(r'type="application/json">(.*?)</script>', text,
                                re.DOTALL)[1])
    for source in data["sources"]:
        print(source["name"])
        for number, line in enumerate(source["lines"], 1):
            print(f"{number}: {line['text']}")
            for remark in line.get("remarks", []):
                value = remark["value"]
                print(" ", remark["title"],
                      value["value"] if isinstance(value, dict) else value,
                      remark["unit"])


main()
