# SPDX-License-Identifier: Apache-2.0
"""usage: manifest.py SOURCE_ROOT

Files that package.json of the extension names: each is there, is JSON, and is in the package,
which has the version of the program.
"""

import fnmatch
import json
import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1])
folder = root / "tools/editors/vscode"
manifest = json.loads((folder / "package.json").read_text("utf-8"))
contributes = manifest["contributes"]
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
cmake = (root / "CMakeLists.txt").read_text("utf-8")
version = re.search(r"project\(Foretrace VERSION ([\d.]+)", cmake).group(1)
if manifest["version"] != version:
    print(f"version {manifest['version']}, but the program has {version}")
print(f"{len(names)} files, {missing} missing")
