# SPDX-License-Identifier: Apache-2.0
#
# Has each system call of the tool fail, one at a time: the n-th of each kind on
# a file of the output folder, or beside it, for all n; of those that put back
# what was there also all from the n-th on, so that putting back fails itself; and
# has memory end. After a failure all must be as it was, or as it is without one,
# unless the message names what is not; the message is a line that says which file,
# and why. With a number of places only so many of each kind fail, spread over all.
"""usage: inject_faults.py LIBRARY JOBS WORK_FOLDER [PLACES]"""
import errno
import hashlib
import os
import pathlib
import shutil
import subprocess
import sys
import typing

LIBRARY, JOBS, WORK = (pathlib.Path(a).resolve() for a in sys.argv[1:4])
PLACES = int(sys.argv[4]) if len(sys.argv) > 4 else None

CALLS = {"open": errno.EMFILE, "write": errno.ENOSPC, "close": errno.EIO,
         "rename": errno.EIO, "link": errno.EIO, "unlink": errno.EIO,
         "mkdir": errno.EDQUOT, "rmdir": errno.EIO, "fsync": errno.EIO,
         "ftruncate": errno.EIO, "fchmod": errno.EPERM, "fchown": errno.EPERM}
UNDOING = ("rename", "link", "unlink", "rmdir")
MEMORY = "memory"
HOME = WORK / "home"  # all that the tool is to touch
OUT = HOME / "out"


class Scenario(typing.NamedTuple):
    """A command, and what stands in the output folder before it."""
    name: str
    arguments: list
    before: list = ()
    environment: dict = {}
    has_steps: bool = False  # each folder in it is whole, or absent


def rank_files(numbers):
    return [f"ranks/rank{n}.txt" for n in numbers]


SEVERAL = ["compile", str(JOBS / "several.fore"), "--threads=1", "-o",
           "home/out/"]
FEW = ["params.txt", "table.txt", *rank_files(range(4))]
SCENARIOS = [
    Scenario("new folder", SEVERAL),
    Scenario("some files there", SEVERAL,
             ["params.txt", "other.txt", *rank_files(range(0, 16, 3))]),
    Scenario("all files there, durable", [*SEVERAL, "--sync"],
             ["params.txt", "table.txt", *rank_files(range(16))]),
    Scenario("no exchange of files", SEVERAL, FEW, {"FAULT_NO_EXCHANGE": "1"}),
    Scenario("no links, either", SEVERAL, FEW,
             {"FAULT_NO_EXCHANGE": "1", "FAULT_NO_LINK": "1"}),
    Scenario("points", ["sweep", str(JOBS / "points.fore"), "--quiet",
                        "--sync", "--threads=1", "--sweep", "parallel.tp=1,2,4",
                        "-o", "points.db", "--points", "home/out"], has_steps=True),
]


def prepare(scenario):
    """Lays the files of before into a folder of their own."""
    for path in [HOME, *WORK.glob("points.*")]:
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
    HOME.mkdir()
    for name in scenario.before:
        path = OUT / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"old {name}\n")
        path.chmod(0o640)


def snapshot():
    """What there is: paths to modes and digests."""
    found = {}
    for path in sorted(HOME.rglob("*")):
        digest = ""
        if path.is_file():
            digest = hashlib.sha256(path.read_bytes()).hexdigest()
        found[str(path.relative_to(HOME))] = (path.stat().st_mode, digest)
    return found


def run(scenario, call="", number=0, lasts=False):
    """Runs it; returns the exit code, and messages."""
    environment = {**os.environ, **scenario.environment,
                   "LD_PRELOAD": str(LIBRARY), "FAULT_FOLDER": str(HOME),
                   "FAULT_CALL": call, "FAULT_AT": str(number),
                   "FAULT_ERRNO": str(CALLS.get(call, 0)),
                   "FAULT_COUNT": str(WORK / "count"),
                   **({"FAULT_LASTS": "1"} if lasts else {})}
    done = subprocess.run(["foretrace", *scenario.arguments], cwd=WORK, env=environment,
                          capture_output=True, text=True, timeout=120,
                          check=False)
    return done.returncode, done.stderr


def is_of_steps(now, new):
    """Whether each folder of a point is whole, or absent."""
    def of_points(state):
        points = {}
        for path, what in state.items():
            name = path.removeprefix("out").lstrip("/").split("/")[0]
            if name.isdigit():
                points.setdefault(name, {})[path] = what
        return points

    new = of_points(new)
    return all(what == new.get(name) for name, what in of_points(now).items())


def complaints(scenario, call, outcome, old, new):
    """What is not as it must be after a failure. A lock that can't be removed
    does no harm."""
    code, errors = outcome
    now = {path: state for path, state in snapshot().items()
           if path in new or path != "out/.sweep.lock"}
    messages = [line for line in errors.splitlines()
                if "error:" in line or line.startswith("foretrace:")]
    if code == 0:
        if now != new:
            yield "is not what it should be, and exits with 0"
        return
    if code not in (1, 3):
        yield f"exits with {code}"
    if len(messages) != 1 or not (call == MEMORY or
                                  any(m in messages[0] for m in "'`")):
        yield f"says {len(messages)} things"
    if scenario.has_steps and is_of_steps(now, new):
        return
    if call == MEMORY and "just when files got their names" in errors:
        return
    if "all files are as they were" in errors and now != old:
        yield "says that all is as it was"
    if now in (old, new):
        return
    meant = new if "all files are written" in errors else old
    silent = [path for path in {**meant, **now}
              if now.get(path) != meant.get(path) and path not in errors]
    if silent:
        yield f"leaves a mixture: {silent}"


def check(scenario, call, lasts):
    """Has each of the calls fail; returns how many of how many, and problems."""
    prepare(scenario)
    old = snapshot()
    code, errors = run(scenario, call)
    if code != 0:
        return 0, 0, [f"fails by itself: {errors}"]
    count = int((WORK / "count").read_text())
    new = snapshot()
    problems, done = [], 0
    for number in range(1, count + 1, max(1, count // (PLACES or count or 1))):
        prepare(scenario)
        outcome = run(scenario, call, number, lasts)
        done += 1
        which = f"{call} {number}{' and all after it' if lasts else ''}"
        problems += [f"{which} of {count}: {what}\n  {outcome[1].strip()}"
                     for what in complaints(scenario, call, outcome, old, new)]
    return done, count, problems


WORK.mkdir(parents=True, exist_ok=True)
failed = total = 0
for scenario in SCENARIOS:
    # What was begun of a point stays until the next run.
    ends = [] if scenario.has_steps else [(MEMORY, False)]
    for call, lasts in [*((c, False) for c in CALLS),
                        *((c, True) for c in UNDOING), *ends]:
        done, count, problems = check(scenario, call, lasts)
        total += done
        failed += len(problems)
        if not PLACES and count:
            print(f"{scenario.name}: {call}{' lasting' if lasts else ''}: "
                  f"{done} of {count}")
        for problem in problems:
            print(f"{scenario.name}: {problem}")
print(f"{failed} problems, {total} failures of calls")
sys.exit(bool(failed))
