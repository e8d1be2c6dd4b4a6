# SPDX-License-Identifier: Apache-2.0
#
# Ends a run that replaces 1,000 files by signals at random moments. Afterwards
# all files are the old ones, or all are the new ones, and there is nothing else.
"""usage: interrupt_often.py JOB WORK_FOLDER TIMES [SEED]"""
import collections
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import time

JOB, WORK = (pathlib.Path(a).resolve() for a in sys.argv[1:3])
TIMES = int(sys.argv[3])
RANDOM = random.Random(int(sys.argv[4]) if len(sys.argv) > 4 else 1)
OUT = WORK / "out"
COMMAND = ["foretrace", "compile", str(JOB), "--quiet", "-o", "out/"]
OLD = b"old\n"
SIGNALS = [signal.SIGTERM, signal.SIGINT, signal.SIGHUP]


def prepare(has_old):
    shutil.rmtree(OUT, ignore_errors=True)
    if has_old:
        OUT.mkdir()
        for rank in range(1000):
            (OUT / f"rank{rank}.txt").write_bytes(OLD)


def start():
    """The tool, which dies of signals although who runs this may ignore them."""
    return subprocess.Popen(COMMAND, cwd=WORK)


def state(has_old):
    """`old` or `new`, or what is wrong."""
    if not OUT.exists():
        return "old" if not has_old else "all files are gone"
    names = {path.name for path in OUT.iterdir()}
    expected = {f"rank{rank}.txt" for rank in range(1000)}
    if names != expected:
        return f"{len(names)} files: {sorted(names ^ expected)[:3]}"
    olds = sum((OUT / name).read_bytes() == OLD for name in names)
    return {0: "new", 1000: "old"}.get(olds, f"{olds} old files")


def main():
    for number in SIGNALS:
        signal.signal(number, signal.SIG_DFL)
    WORK.mkdir(parents=True, exist_ok=True)
    prepare(True)
    begin = time.monotonic()
    if start().wait() != 0 or state(True) != "new":
        sys.exit("does not write 1000 files")
    duration = time.monotonic() - begin
    seen = collections.Counter()
    for attempt in range(TIMES):
        has_old = attempt % 3 != 0
        prepare(has_old)
        process = start()
        share = RANDOM.uniform(0, 1.2)
        time.sleep(share * duration)
        process.send_signal(RANDOM.choice(SIGNALS))
        process.wait(60)
        found = state(has_old)
        if process.returncode == 0 and found == "old":
            found = "old, and exits with 0"
        seen[found] += 1
        # The machine may have become busier, or less so.
        if found == "old" and share > 0.9:
            duration *= 1.15
        elif found == "new" and share < 0.9:
            duration *= 0.9
        beside = {path.name for path in WORK.iterdir()} - {"out"}
        if beside:
            seen[f"beside it: {sorted(beside)[:3]}"] += 1
            for name in beside:
                shutil.rmtree(WORK / name, ignore_errors=True)
    print(", ".join(f"{count} times {what}" for what, count in
                    sorted(seen.items())))
    return 0 if set(seen) <= {"old", "new"} else 1


if __name__ == "__main__":
    sys.exit(main())
