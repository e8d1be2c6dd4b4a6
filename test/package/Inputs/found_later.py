# SPDX-License-Identifier: Apache-2.0
"""usage: found_later.py CMAKE COMPILER SOURCE_ROOT FOLDER

Configures a build as if there were no pybind11, then once more with it, and compares
the commands of the compiler."""
import json
import pathlib
import subprocess
import sys

cmake, compiler, root, folder = sys.argv[1:]


def configured(*options):
    subprocess.run([cmake, "-G", "Ninja", "-S", root, "-B", folder,
                    f"-DCMAKE_CXX_COMPILER={compiler}",
                    "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON", *options],
                   check=True, stdout=subprocess.DEVNULL)
    commands = json.loads(pathlib.Path(folder, "compile_commands.json").read_text("utf-8"))
    return {entry["command"] for entry in commands}


def of_module(commands):
    return sum("tools/python/" in command for command in commands)


before = configured("-DPYBIND11_INCLUDE_DIR=")
print(f"without pybind11: {len(before)} commands, {of_module(before)} of the module")
# What CMake remembers of a search that failed.
after = configured("-DPYBIND11_INCLUDE_DIR=PYBIND11_INCLUDE_DIR-NOTFOUND")
print(*before - after, sep="\n", file=sys.stderr)
print(f"with it: {of_module(after)} of the module, {len(before - after)} others changed")
