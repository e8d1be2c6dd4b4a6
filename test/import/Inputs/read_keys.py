# SPDX-License-Identifier: Apache-2.0
"""usage: read_keys.py SOURCE_ROOT

Prints keys that a page says are read, although no formula of it and no importer reads them.
"""
import pathlib
import re
import sys

READ = re.compile(r"^  read \{(.*?)^  \}", re.M | re.S)

root = pathlib.Path(sys.argv[1])
code = "".join(path.read_text() for path in (root / "tools/importers").rglob("*.cpp"))
count = 0
for page in sorted((root / "lang/import").rglob("*.fore")):
    text = page.read_text()
    formulas = READ.sub("", text)
    for section in READ.findall(text):
        for words in re.findall(r'"(.*?)"', section):
            for key in words.split():
                count += 1
                if not re.search(rf"\b{re.escape(key)}\b", formulas) and f'"{key}"' not in code:
                    print(f"{page.name}: {key} is not read")
print(f"{count} keys")
