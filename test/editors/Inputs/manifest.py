# SPDX-License-Identifier: Apache-2.0
"""usage: manifest.py EXTENSION

Files that package.json names: each is there, is JSON, and is in the package.
"""

import fnmatch
import json
import pathlib
import sys

folder = pathlib.Path(sys.argv[1])
contributes = json.loads((folder / "package.json").read_text("utf-8"))["contributes"]
packed = [line[1:] for line in (folder / ".vscodeignore").read_text("utf-8").splitlines()
          if line.startswith("!")]
names = [contributed[key] for kind in ("languages", "grammars", "snippets")
         for contributed in contributes[kind] for key in ("path", "configuration")
         if key in contributed]
names.append("./package.json")
missing = 0
for name in names:
    path = folder / name
    if not path.exists() or not any(fnmatch.fnmatch(name[2:], each) for each in packed):
        print(f"{name} is not in the package")
        missing += 1
    else:
        json.loads(path.read_text("utf-8"))
print(f"{len(names)} files, {missing} missing")
