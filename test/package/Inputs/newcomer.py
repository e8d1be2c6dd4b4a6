# SPDX-License-Identifier: Apache-2.0
"""usage: newcomer.py SOURCE_ROOT ROOT

Follows README in ROOT, a bare Debian with the sources in /foretrace: runs the lines of its
blocks of `sh`, puts the program on the path as the first one says, and runs the `console`
blocks of README and of the tutorial, which ends with a simulated iteration. `./bootstrap.sh
test`, which this is a test of, only installs what it would.
"""

import pathlib
import re
import shutil
import sys

from container import Stage, copy_sources

SH = re.compile(r"^```sh\n(.*?)^```$", re.M | re.S)


sources, root = (pathlib.Path(name).resolve() for name in sys.argv[1:])
debian = Stage(root)
debian.work = "/foretrace"
copy_sources(sources, debian.path(""))
shutil.copy("/etc/resolv.conf", root / "etc/resolv.conf")
log = root / "foretrace.log"

def run(command):
    debian.run(["/bin/sh", "-c", f"cd {debian.work} && {command}"])

readme = (sources / "README.md").read_text(encoding="utf-8")
for line in "".join(SH.findall(readme)).splitlines():
    print(line, flush=True)
    if line == "./bootstrap.sh test":
        line = "apt-get install -qy --no-install-recommends libsimgrid-dev"
    run(f"{line} >> /{log.name} 2>&1")
path = re.search(r'^==>   (export PATH=".*")$', log.read_text("utf-8"), re.M)[1]
print(path)
for page in "README.md", "docs/tutorial.md":
    print(page, end=": ", flush=True)
    run(f"{path} && python3 test/support/snippets.py . {page}")
