# SPDX-License-Identifier: Apache-2.0
#
# How lit runs the tests under this folder. Paths come from lit.site.cfg.py,
# which CMake writes into the build folder. Parameters (`lit -D name=value`):
#
#   tier   quick, full (the default) or long: docs/contributing.md
#   seed   of random cases; 1 by default
#   sample with N, of most folders only one test in N runs, which the seed chooses, too
#
# `%{cases A B C}` is a number of random cases: A with sanitizers, B without, C in
# the tier `long`. `REQUIRES: full` leaves a test out of the tier `quick`,
# `REQUIRES: long` out of both others.
import importlib.util
import os
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "support"))
import sample

config.name = "foretrace"
config.test_format = sample.Sample(
    int(lit_config.params.get("sample", 1)), int(lit_config.params.get("seed", 1)),
    sample.added(os.path.dirname(__file__)))
config.suffixes = [".fore", ".ftir", ".test"]
config.excludes = ["Inputs", "corpus", "bench", "data"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.build_dir, "test", "out")

# The interpreter of lit itself stands before what only looks for one.
config.environment["PATH"] = os.pathsep.join(
    [config.tool_dir, config.llvm_tools_dir, os.path.dirname(sys.executable),
     os.environ["PATH"]])
config.environment["LC_ALL"] = "C.UTF-8"
# Modules that scripts of tests share.
config.environment["PYTHONPATH"] = os.path.join(config.test_source_root, "support")
config.environment["FORETRACE_VERIFY_EACH"] = "1"
config.environment["FILECHECK_OPTS"] = "--dump-input-context=8"

tier = lit_config.params.get("tier", "full")
if tier not in ("quick", "full", "long"):
    lit_config.fatal(f"tier = {tier}; there are quick, full and long")
config.available_features |= {"full"} if tier != "quick" else set()
config.available_features |= {"long"} if tier == "long" else set()
cases = 3 if tier == "long" else 1 if config.sanitizers else 2

config.substitutions += [
    (r"%{cases (\d+) (\d+) (\d+)}", rf"\{cases}"),
    ("%{seed}", lit_config.params.get("seed", "1")),
    ("%{src_root}", config.src_root),
    ("%{build_dir}", config.build_dir),
    ("%{python}", sys.executable),
    ("%{cmake}", config.cmake),
    ("%{cpack}", os.path.join(os.path.dirname(config.cmake), "cpack")),
    ("%{cxx}", config.cxx),
    ("%{llvm_include}",
     os.path.join(os.path.dirname(config.llvm_tools_dir), "include")),
]

# The module is for the Python that it was built with, which may have packages that the
# tests need.
if config.python_module:
    module_path = os.path.join(config.build_dir, "python")
    config.substitutions += [
        ("%{python-of-module}", config.python_module),
        ("%{python-module}", f"env PYTHONPATH={module_path} {config.python_module}")]
    find = "import importlib.util as i; print(*filter(i.find_spec, {}))".format(
        ("numpy", "pandas", "pip"))
    packages = subprocess.run([config.python_module, "-c", find], check=True,
                              capture_output=True, text=True).stdout.split()
    config.available_features |= {"python-module", *packages}
else:
    lit_config.note("the Python module is not built; its tests are skipped")

if config.sanitizers:
    config.available_features.add("sanitizers")
    # Allocators of LLVM poison what they have free where our code uses them, but
    # LLVM's own, which is not instrumented, takes it without a word.
    # To look for leaks takes a third of the time of a short process: folders of
    # programs that live long do it.
    config.environment["ASAN_OPTIONS"] = "allow_user_poisoning=0:detect_leaks=0"
    # A third to two thirds of the time of a process is for 256 MB of freed memory that is
    # not used again, the stack of each allocation, and frames that outlive their functions.
    if tier != "long":
        config.environment["ASAN_OPTIONS"] += (
            ":quarantine_size_mb=8:malloc_context_size=1:detect_stack_use_after_return=0")
if config.fuzzers:
    config.available_features.add("fuzzers")
if config.static:
    config.available_features.add("static")
if os.geteuid() == 0:
    config.available_features.add("root")
if importlib.util.find_spec("yaml"):
    config.available_features.add("yaml")
if tier == "long":
    config.available_features.add("long")
if config.assertions:
    config.available_features.add("asserts")
for feature, program in {"simgrid": "smpirun", "protoc": "protoc",
                         "chromium": "chromium", "fish": "fish", "nvim": "nvim", "vim": "vim",
                         "dpkg": "dpkg-deb", "slurm": "sbatch", "gcc": "g++"}.items():
    # Pages are the same from a build with sanitizers.
    if shutil.which(program) and not (config.sanitizers and feature == "chromium"):
        config.available_features.add(feature)
# It needs the network, which only the long tier asks for.
if tier == "long" and shutil.which("debootstrap") and not subprocess.run(
        ["debootstrap", "--print-debs", "--variant=minbase", "bookworm",
         os.path.join(config.build_dir, "debootstrap")],
        check=False, capture_output=True).returncode:
    config.available_features.add("debootstrap")
# What bootstrap.sh installs for tests of the extension of VS Code.
node_modules = os.path.join(config.src_root, "build", "npm", "node_modules")
if shutil.which("node") and os.path.isdir(node_modules):
    config.available_features.add("node-modules")
    config.environment["NODE_PATH"] = node_modules
    config.substitutions.append(("%{node_modules}", node_modules))
