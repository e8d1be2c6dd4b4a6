# SPDX-License-Identifier: Apache-2.0
#
# Runs clang-tidy with the checks of .clang-tidy over our sources, as the units in which
# a build compiles them: those with files that changed last, and a third of the others,
# which the number of commits chooses; and g++ over the files that changed last, each alone
# and without precompiled headers, so that none misses an include and each is C++ for
# both compilers. What Clang itself would warn of is the compilers' to say.
"""usage: tidy.py SOURCE_ROOT BUILD_DIR [--all]

With --all every unit is looked at, and every file alone."""

import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys

TIDY = "clang-tidy-19"
MISSING = 77  # as of a test that is skipped
FINDING = re.compile(r"^\S+:\d+:\d+: (?:fatal )?(?:error|warning): ")
FOLDERS = ("lang", "ir", "analysis", "frontend", "passes", "backends",
           "tools", "test")
# clang-tidy would walk all of a precompiled header in each unit.
PRECOMPILED = re.compile(
    r"-Winvalid-pch|-fpch-\S+"
    r"|(?:-Xclang )?-include(?:-pch)?(?: -Xclang)? \S+cmake_pch\.hxx\S*")
# Units of these folders are looked at together, since most of the time is that of headers. If
# names in them clash, they are looked at one by one.
TOGETHER = (re.compile(r"lang$|ir/"),
            re.compile(r"backends(/(goal|ir|json|memory|ranks|shapes|time))?$"),
            re.compile(r"tools/(compiler|convert|driver|explain|exporters|importers|output|start)\b"),
            re.compile(r"tools/(explore|fit|lsp|runs|validate)$"))
LAST = 16  # files that changed last, which are looked at alone
TURNS = 3  # until each unit was looked at
CLASH = "[clang-diagnostic-error]"
USING = re.compile(r"^using (?:\w+::)+(\w+);$", re.M)


def units_of(build):
    """Returns each unit of ours, its flags, and the sources in it."""
    for entry in json.loads((build / "compile_commands.json").read_text("utf-8")):
        unit = pathlib.Path(entry["file"])
        command, _, file = PRECOMPILED.sub("", entry["command"]).partition(" -c ")
        if "/grammar/" in file or unit.name.startswith("cmake_pch") or \
                "_grammar." in str(unit):
            continue
        sources = [unit]
        if unit.parent.name == "Unity":
            sources = [pathlib.Path(path) for path in re.findall(
                r'^#include "(.*)"$', unit.read_text("utf-8"), re.M)]
        yield unit, shlex.split(re.sub(r" -o \S+", "", command))[1:], sources


def joined(root, units):
    """Groups units by TOGETHER; the largest first, so that no core waits for it at the end."""
    groups = {}
    for unit, flags, sources in units:
        folder = str(sources[0].parent).removeprefix(f"{root}/")
        key = next((number for number, pattern in enumerate(TOGETHER)
                    if pattern.match(folder)), unit)
        groups.setdefault(key, []).append((unit, flags, sources))

    def size(group):
        return sum(path.stat().st_size for _, _, sources in group for path in sources)
    return sorted(groups.values(), key=size, reverse=True)


def includes_of(group):
    """Returns the flags of the first unit, and folders of system headers of the others."""
    flags = list(group[0][1])
    for _, others, _ in group[1:]:
        for option, path in zip(others, others[1:]):
            if option == "-isystem" and path not in flags:
                flags += [option, path]
    return flags


def git(root, *arguments):
    """The words that git prints; none without git."""
    if not shutil.which("git"):
        return []
    return subprocess.run(["git", "-C", root, *arguments], check=False,
                          text=True, stdout=subprocess.PIPE).stdout.split()


def changed_last(root):
    """Our files that git has, the last changed first."""
    present = set(git(root, "ls-files"))
    ordered = dict.fromkeys(
        git(root, "log", "--name-only", "--format=") + sorted(present))
    return [root / name for name in ordered
            if name in present and name.startswith(FOLDERS)
            and name.endswith((".cpp", ".h")) and "/Inputs/" not in name]


def due(root, units, changed):
    """The units whose turn it is, and those with files that changed last."""
    turn = int(*git(root, "rev-list", "--count", "HEAD") or [0])
    return [unit for number, unit in enumerate(units)
            if (number + turn) % TURNS == 0 or not changed.isdisjoint(unit[2])]


def alone(units, files):
    """Yields commands for single files, which are included so that headers are no
    programs."""
    compiler = shutil.which("g++") or "clang++-19"
    owners = {source: flags for _, flags, sources in units for source in sources}
    by_folder = {}
    for source, flags in owners.items():
        by_folder.setdefault(source.parent, flags)
    for path in files:
        flags = owners.get(path) or next(
            (by_folder[folder] for folder in path.parents
             if folder in by_folder), None)
        if flags:
            yield [compiler, *flags, "-fsyntax-only", "-x", "c++", "-include", path, os.devnull]


def look(root, command):
    """Returns the findings of a command; what went wrong if none is."""
    process = subprocess.run(command, check=False, cwd=root, text=True,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    lines = process.stdout.splitlines()
    found = list(filter(FINDING.match, lines))
    return found or (lines if process.returncode else [])


def look_at(root, folder, group):
    """Returns what clang-tidy finds in a group of units."""
    unit, flags = group[0][0], includes_of(group)
    if len(group) > 1:
        unit = folder / (str(group[0][2][0].parent.relative_to(root)).replace("/", "-") + ".cpp")
        unit.write_text("".join(f'#include "{of}"\n' for of, _, _ in group), "utf-8")
    found = look(root, [TIDY, "-quiet", f"--config-file={root}/.clang-tidy",
                        "-checks=-misc-unused-using-decls", unit, "--", *flags, "-Wno-error"])
    if len(group) > 1 and any(CLASH in line for line in found):
        print(f"{unit.name}: names clash, its units are looked at one by one", flush=True)
        return [line for each in group for line in look_at(root, folder, [each])]
    return found


def unused_using(root):
    """`using a::b;` of which the file makes no use; clang-tidy sees none in
    the sources of a unit."""
    for folder in FOLDERS:
        for path in (root / folder).rglob("*.cpp"):
            text = path.read_text("utf-8")
            for match in USING.finditer(text):
                if len(re.findall(rf"\b{match[1]}\b", text)) == 1:
                    line = text.count("\n", 0, match.start()) + 1
                    yield f"{path}:{line}:1: error: unused `{match[0]}`"


def main():
    parser = argparse.ArgumentParser(usage=__doc__.partition(": ")[2])
    parser.add_argument("root", type=lambda path: pathlib.Path(path).resolve())
    parser.add_argument("build", type=lambda path: pathlib.Path(path).resolve())
    parser.add_argument("--all", action="store_true")
    options = parser.parse_args()
    if not shutil.which(TIDY):
        print(f"clang-tidy: there is no {TIDY}; skipped")
        return MISSING
    folder = options.build / "tidy"
    folder.mkdir(exist_ok=True)
    units = list(units_of(options.build))
    last = changed_last(options.root)[:None if options.all else LAST]
    looked_at = units if options.all else due(options.root, units, set(last))
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        looks = [pool.submit(look_at, options.root, folder, group)
                 for group in joined(options.root, looked_at)]
        looks += [pool.submit(look, options.root, command)
                  for command in alone(units, last)]
        found = [line for each in looks for line in each.result()]
    found += unused_using(options.root)
    found = list(dict.fromkeys(found))
    print(*found, f"clang-tidy: {len(found)} findings in {len(looked_at)} of {len(units)} units", sep="\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
