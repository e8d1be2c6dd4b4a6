# SPDX-License-Identifier: Apache-2.0
"""usage: container.py SOURCE_ROOT FOLDER ARGUMENT...

Builds tools/package/Containerfile without a container engine: FOLDER/debian is the root of
its base image, each stage is a folder beside it, and commands run by chroot. Then runs the
entry point of the last stage with the arguments, on the sources.
"""

import json
import os
import pathlib
import shlex
import shutil
import subprocess
import sys


class Stage:
    """A root and what the instructions set for it."""

    def __init__(self, root):
        self.root, self.work, self.entry = root, "/", []

    def path(self, name):
        return self.root / os.path.join(self.work, name).lstrip("/")

    def run(self, command):
        # Packages of Java need /proc, which container engines mount.
        subprocess.run(["unshare", "--mount", "--pid", "--fork",
                        f"--mount-proc={self.root}/proc", "chroot", self.root, *command],
                       check=True,
                       env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", **{
                           name: value for name, value in os.environ.items()
                           if name.lower().endswith("_proxy")}})


def copy(source, target):
    subprocess.run(["cp", "-a", "--no-preserve=ownership", f"{source}/.", target], check=True)


def copy_sources(root, target):
    """What git knows of; .containerignore leaves out the rest."""
    names = subprocess.check_output(
        ["git", "-C", root, "ls-files", "--cached", "--others", "--exclude-standard", "-z"])
    for name in names.decode().split("\0"):
        if name and (root / name).is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(root / name, target / name)


def main():
    root, folder = (pathlib.Path(name).resolve() for name in sys.argv[1:3])
    stages, stage = {}, None
    text = (root / "tools/package/Containerfile").read_text(encoding="utf-8")
    for line in text.splitlines():
        name, _, rest = line.partition(" ")
        words = shlex.split(rest)
        if name == "FROM":
            stage = Stage(folder / f"stage{len(stages)}")
            stages[words[-1]] = stage
            stage.root.mkdir()
            if words[0] != "scratch":
                copy(folder / words[0].split(":")[0], stage.root)
                shutil.copy("/etc/resolv.conf", stage.root / "etc/resolv.conf")
        elif name == "WORKDIR":
            stage.work = rest
            stage.path("").mkdir(parents=True, exist_ok=True)
        elif name == "COPY" and words[0].startswith("--from="):
            source = stages[words[0].partition("=")[2]].path(words[1])
            stage.path(words[2]).mkdir(parents=True, exist_ok=True)
            copy(source, stage.path(words[2]))
        elif name == "COPY":
            assert words == [".", "."]
            copy_sources(root, stage.path(""))
        elif name == "RUN":
            stage.run(["/bin/sh", "-c", f"cd {stage.work} && {rest}"])
        elif name == "ENTRYPOINT":
            stage.entry = json.loads(rest)
        elif line and name != "#":
            sys.exit(f"container.py does not know {name}")
    copy_sources(root, stage.path(""))
    os.chroot(stage.root)
    os.chdir(stage.work)
    os.execv(stage.entry[0], stage.entry + sys.argv[3:])


if __name__ == "__main__":
    main()
