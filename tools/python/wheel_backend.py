# SPDX-License-Identifier: Apache-2.0
"""Builds the wheel of `foretrace` with CMake: the hooks of PEP 517.

`--config-settings=build-dir=DIR` names the build folder; build/wheel of the repository
by default.
"""

import base64
import hashlib
import pathlib
import re
import subprocess
import sys
import sysconfig
import tempfile
import zipfile

SOURCE = pathlib.Path(__file__).resolve().parents[2]
METADATA = """Metadata-Version: 2.1
Name: foretrace
Version: {version}
Summary: {summary}
License: Apache-2.0
Requires-Python: =={python}.*
Provides-Extra: sweep
Requires-Dist: numpy; extra == "sweep"
"""
WHEEL = """Wheel-Version: 1.0
Generator: foretrace
Root-Is-Purelib: false
Tag: {tag}
"""


def cmake(*words):
    subprocess.run(["cmake", *map(str, words)], check=True, stdout=sys.stderr)


def cached(build_dir, name):
    """A variable of a build folder."""
    cache = (build_dir / "CMakeCache.txt").read_text(encoding="utf-8")
    match = re.search(rf"^{name}:\w+=(.*)$", cache, re.M)
    return match and match[1]


def build(build_dir, prefix):
    """Builds the package with this Python and installs it to a folder."""
    if not (build_dir / "CMakeCache.txt").exists():
        cmake("--preset", "release", "-S", SOURCE, "-B", build_dir, "-DFORETRACE_TESTS=OFF",
              f"-DPython_EXECUTABLE={sys.executable}")
    cmake("--build", build_dir, "--target", "foretrace_python")
    cmake("--install", build_dir, "--component", "python", "--prefix", prefix, "--strip")


def digest(data):
    text = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode()
    return "sha256=" + text.rstrip("=")


def write_wheel(path, files, record):
    """Files with a fixed time, so that the same files make the same wheel."""
    rows = [f"{name},{digest(data)},{len(data)}\n" for name, data in files]
    files.append((record, ("".join(rows) + f"{record},,\n").encode()))
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as wheel:
        for name, data in files:
            entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            entry.external_attr = 0o644 << 16
            wheel.writestr(entry, data, zipfile.ZIP_DEFLATED)


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    build_dir = pathlib.Path((config_settings or {}).get("build-dir", SOURCE / "build/wheel"))
    with tempfile.TemporaryDirectory() as folder:
        build(build_dir, folder)
        files = [(path.relative_to(folder).as_posix(), path.read_bytes())
                 for path in sorted(pathlib.Path(folder).rglob("*")) if path.is_file()]
    version = cached(build_dir, "CMAKE_PROJECT_VERSION")
    tag = "cp{0}{1}-cp{0}{1}-".format(*sys.version_info) + re.sub(
        r"\W", "_", sysconfig.get_platform())
    info = f"foretrace-{version}.dist-info"
    files += [
        (f"{info}/METADATA", METADATA.format(
            version=version, summary=cached(build_dir, "CMAKE_PROJECT_DESCRIPTION"),
            python="%d.%d" % sys.version_info[:2]).encode()),
        (f"{info}/WHEEL", WHEEL.format(tag=tag).encode()),
        (f"{info}/LICENSE", (SOURCE / "LICENSE").read_bytes()),
    ]
    name = f"foretrace-{version}-{tag}.whl"
    write_wheel(pathlib.Path(wheel_directory) / name, files, f"{info}/RECORD")
    return name
