# SPDX-License-Identifier: Apache-2.0
"""usage: licences.py SOURCE_ROOT BUILD_DIR

Compares tools/package/copyright with the archives that the linker's map of the static
program lists and with the packages that bootstrap.sh installs for libraries.
"""

import fnmatch
import pathlib
import re
import sys

# CMake files of other libraries name these; the program does not use them.
NOT_LINKED = {"uuid-dev", "zlib1g-dev", "libzstd-dev"}


root, build = map(pathlib.Path, sys.argv[1:3])
text = (root / "tools/package/copyright").read_text(encoding="utf-8")
files = " ".join(re.findall(r"^Files: (.*)$", text, re.M)).split()
linker_map = (build / "tools/package/foretrace-static.map").read_text("utf-8", "replace")
archives = {pathlib.Path(path).name
            for path in re.findall(r"^(/\S+?\.a)\(", linker_map, re.M)}
packages = set(re.findall(r"\b\S+-dev\b", re.search(
    r"^packages='(.*?)'", (root / "bootstrap.sh").read_text("utf-8"), re.M | re.S)[1]))
packages -= NOT_LINKED
missing = [name for name in archives
           if not any(fnmatch.fnmatch(name, known) for known in files[1:])]
missing += [name for name in packages if f"Comment: {name}\n" not in text]
used = set(re.findall(r"^License: (\S.*)$", text, re.M))
defined = set(re.findall(r"^License: (\S.*)\n ", text, re.M))
missing += [f"text of {name}" for name in used - defined if ", and" not in name]
if missing:
    sys.exit(f"tools/package/copyright lacks {', '.join(sorted(missing))}")
print(f"{len(archives)} archives, {len(packages)} packages")
