#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# Has each system call of the tool fail, one at a time: the n-th of each kind on
# a file of the output folder, for all n; of those that put back what was there
# also all from the n-th on, so that putting back fails itself. After a failure the folder must be as
# it was, or as it is without one, unless the message names what is not; the
# message is a line that says which file, and why. A number of seconds ends it
# earlier, with a share of the calls that is spread over all of them.
"""usage: inject_faults.py LIBRARY JOBS WORK_FOLDER [SECONDS]"""
import errno
import hashlib
import os
import pathlib
import shutil
import subprocess
import sys
import time

LIBRARY, JOBS, WORK = (pathlib.Path(a).resolve() for a in sys.argv[1:4])
SECONDS = float(sys.argv[4]) if len(sys.argv) > 4 else None

CALLS = {"open": errno.EMFILE, "write": errno.ENOSPC, "close": errno.EIO,
         "rename": errno.EIO, "link": errno.EIO, "unlink": errno.EIO,
         "mkdir": errno.EDQUOT, "rmdir": errno.EIO, "fsync": errno.EIO,
         "ftruncate": errno.EIO, "fchmod": errno.EPERM, "fchown": errno.EPERM}
UNDOING = ("rename", "link", "unlink", "rmdir")
OUT = WORK / "out"


class Scenario:
    """A command, and what stands in the output folder before it."""

    def __init__(self, name, arguments, before=(), environment=(), steps=False):
        self.name = name
        self.command = ["foretrace", *arguments]
        self.before = before
        self.environment = dict(environment)
        self.has_steps = steps  # each folder in it is whole, or absent


def rank_files(numbers):
    return [f"ranks/rank{n}.txt" for n in numbers]


SEVERAL = ["compile", str(JOBS / "several.fore"), "--threads=1", "-o", "out/"]
SCENARIOS = [
    Scenario("new folder", SEVERAL),
    Scenario("some files there", SEVERAL,
             ["params.txt", "other.txt", *rank_files(range(0, 16, 3))]),
    Scenario("all files there, durable", [*SEVERAL, "--sync"],
             ["params.txt", "table.txt", *rank_files(range(16))]),
    Scenario("no exchange of files", SEVERAL,
             ["params.txt", "table.txt", *rank_files(range(4))],
             {"FAULT_NO_EXCHANGE": "1"}),
    Scenario("points", ["sweep", str(JOBS / "points.fore"), "--quiet",
                        "--threads=1", "--sweep", "parallel.tp=1,2,4",
                        "-o", "points.db", "--points", "out"], steps=True),
]


def prepare(scenario):
    """Lays the files of before into a folder of their own."""
    for path in [OUT, *WORK.glob("points.*")]:
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
    for name in scenario.before:
        path = OUT / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"old {name}\n")
        path.chmod(0o640)


def snapshot():
    """What is in the output folder: paths to modes and digests."""
    found = {}
    for path in sorted(OUT.rglob("*")):
        digest = ""
        if path.is_file():
            digest = hashlib.sha256(path.read_bytes()).hexdigest()
        found[str(path.relative_to(OUT))] = (path.stat().st_mode, digest)
    return found


def run(scenario, call="", number=0, lasts=False):
    """Runs it; returns the exit code, messages, and how many calls there were."""
    count = WORK / "count"
    environment = {**os.environ, **scenario.environment,
                   "LD_PRELOAD": str(LIBRARY), "FAULT_FOLDER": str(OUT),
                   "FAULT_CALL": call, "FAULT_AT": str(number),
                   "FAULT_ERRNO": str(CALLS.get(call, 0)),
                   "FAULT_COUNT": str(count),
                   **({"FAULT_LASTS": "1"} if lasts else {})}
    done = subprocess.run(scenario.command, cwd=WORK, env=environment,
                          capture_output=True, text=True, timeout=120,
                          check=False)
    return done.returncode, done.stderr, int(count.read_text())


def is_of_steps(now, new):
    """Whether each folder of a point is whole, or absent."""
    points = {path.split("/")[0] for path in now}
    return all({p: s for p, s in now.items() if p.split("/")[0] == point} ==
               {p: s for p, s in new.items() if p.split("/")[0] == point}
               for point in points if point not in (".sweep", "run.sh"))


def complaints(scenario, code, errors, old, new):
    """What is not as it must be after a failure. A lock that can't be removed
    does no harm."""
    now = {path: state for path, state in snapshot().items()
           if path in new or path != ".sweep.lock"}
    messages = [line for line in errors.splitlines()
                if "error:" in line or line.startswith("foretrace:")]
    if code == 0:
        if now != new:
            yield "is not what it should be, and exits with 0"
        return
    if code not in (1, 3):
        yield f"exits with {code}"
    if len(messages) != 1 or not any(mark in messages[0] for mark in "'`"):
        yield f"says {len(messages)} things"
    if now in (old, new) or scenario.has_steps and is_of_steps(now, new):
        return
    different = {path for path in {**old, **now, **new}
                 if now.get(path) not in (old.get(path), new.get(path))
                 or path not in old and path not in new}
    silent = [path for path in different if path not in errors]
    if silent or not different:
        yield f"leaves a mixture: {silent or 'of old and new files'}"


def check(scenario, call, lasts, deadline):
    """Has each of the calls fail; returns how many of how many, and problems."""
    prepare(scenario)
    old = snapshot()
    code, errors, count = run(scenario, call)
    if code != 0:
        return 0, 0, [f"fails by itself: {errors}"]
    new = snapshot()
    share = max(1, count // 3) if deadline else 1  # spread over all of them
    problems, done = [], 0
    for number in range(1, count + 1, share):
        if deadline and time.monotonic() > deadline:
            break
        prepare(scenario)
        code, errors, _ = run(scenario, call, number, lasts)
        done += 1
        which = f"{call} {number}{' and all after it' if lasts else ''}"
        problems += [f"{which} of {count}: {what}\n  {errors.strip()}"
                     for what in complaints(scenario, code, errors, old, new)]
    return done, count, problems


def main():
    WORK.mkdir(parents=True, exist_ok=True)
    deadline = SECONDS and time.monotonic() + SECONDS
    failed = total = 0
    for scenario in SCENARIOS:
        for call, lasts in [*((c, False) for c in CALLS),
                            *((c, True) for c in UNDOING)]:
            done, count, problems = check(scenario, call, lasts, deadline)
            total += done
            failed += len(problems)
            if not SECONDS and count:
                print(f"{scenario.name}: {call}{' lasting' if lasts else ''}: "
                      f"{done} of {count}")
            for problem in problems:
                print(f"{scenario.name}: {problem}")
    print(f"{failed} problems")
    if not SECONDS:
        print(f"{total} failures of calls")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
