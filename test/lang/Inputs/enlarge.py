# SPDX-License-Identifier: Apache-2.0
"""usage: enlarge.py CMAKE FOLDER OUT TIMES

Writes the rows of a library that has each file of FOLDER so many times, and prints how
much text that is."""
import pathlib
import shutil
import subprocess
import sys

cmake, folder, out, times = sys.argv[1:]
out = pathlib.Path(out)
shutil.rmtree(out, ignore_errors=True)
(out / "lang").mkdir(parents=True)
files, size = [], 0
for path in sorted(pathlib.Path(folder).rglob("*.*")):
    if path.suffix not in (".fore", ".toml"):
        continue
    for copy in range(int(times)):
        name = f"{copy}-{path.name}"
        if (out / name).exists():
            name = f"{path.parent.name}-{name}"
        shutil.copy(path, out / name)
        files.append(name)
        size += path.stat().st_size
rows = out / "lang"
subprocess.run([cmake, f"-DFILES={';'.join(files)}", f"-DFOLDER={out}",
                f"-DOUTPUT={rows}/Library.inc", f"-DMODELS={rows}/LibraryModels.inc",
                "-P", f"{folder}/EmbedLibrary.cmake"], check=True)
print(f"{size // 1000} KB")
