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

import tool

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
problems = [f"{name} is not in the package" for name in names if not (folder / name).exists()
            or not any(fnmatch.fnmatch(name[2:], each) for each in packed)]
for name in names if not problems else ():
    json.loads((folder / name).read_text("utf-8"))
cmake = (root / "CMakeLists.txt").read_text("utf-8")
version = re.search(r"project\(Foretrace VERSION ([\d.]+)", cmake).group(1)
if manifest["version"] != version:
    problems.append(f"version {manifest['version']}, but the program has {version}")
tool.report(problems, f"{len(names)} files")
