"""usage: full_disk.py FOLDER JOB EVERY

Sweeps to files that may not grow beyond some sizes, of those below each that is
so many after another from the last on, and, where file systems can be mounted, to one that is too
small: each ends with an error, and goes on once there is space.
"""

import os
import pathlib
import resource
import subprocess
import sys

from content import MAY_MOUNT, command, content, run_mounting

AXES = ("parallel.world=powers(8,1024)", "parallel.tp=1..8",
        "parallel.pp=1..16", "parallel.cp=1,2,4", "train.micro_batch=1..8",
        "train.global_batch=powers(64,4096)")
PARTS = ["--shards=3", "--threads=2"]
# From where nothing can be written to where the last unit, or the file that
# shards are merged to, has no space.
LIMITS = (0, 4096, 20_000, 50_000, 200_000, 400_000, 900_000)
FREE = (8_192, 36_864, 65_536, 300_000, 900_000)
FREE_FOR_PARTS = (*FREE, 1_700_000)
DISK = 16_777_216
CAUSES = ("disk I/O error", "database or disk is full")


def sweep(job, database, more, limit=None):
    most = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
    limits = (most if limit is None else limit, most)
    return subprocess.run(
        command(job, database, AXES, *more), check=False, text=True, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, preexec_fn=lambda: resource.setrlimit(
            resource.RLIMIT_FSIZE, limits))


def expect_failure(run, what):
    if run.returncode != 3 or not run.stderr.startswith("foretrace: ") or not (
            any(cause in run.stderr for cause in CAUSES)):
        sys.exit(f"{what}: exit code {run.returncode}: {run.stderr}")


def expect_success(run, database, whole, what):
    if run.returncode != 0 or content(database) != whole:
        sys.exit(f"{what}, then not: exit code {run.returncode}: {run.stderr}")


def meet_limits(folder, job, every, whole):
    for more in ([], PARTS):
        # Without any space, processes cannot even say why they fail.
        for limit in LIMITS[bool(more):][::-every]:
            what = f"files of {limit} bytes {more}"
            database = folder / f"{limit}-{len(more)}.db"
            expect_failure(sweep(job, database, more, limit), what)
            expect_success(sweep(job, database, more), database, whole, what)


def fill_disks(folder, job, every, whole):
    """Of file systems that are mounted, and full of something else at first."""
    for more, sizes in (([], FREE), (PARTS, FREE_FOR_PARTS)):
        for free in sizes[::-every]:
            what = f"a disk with {free} bytes {more}"
            disk = folder / f"{free}-{len(more)}"
            disk.mkdir()
            subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={DISK}",
                            "none", disk], check=True)
            with open(disk / "other", "wb") as other:
                os.posix_fallocate(other.fileno(), 0, DISK - free)
            database = disk / "all.db"
            expect_failure(sweep(job, database, more), what)
            (disk / "other").unlink()
            expect_success(sweep(job, database, more), database, whole, what)


def main():
    folder, job = pathlib.Path(sys.argv[1]), sys.argv[2]
    every = int(sys.argv[3])
    if MAY_MOUNT in sys.argv:
        fill_disks(folder, job, every, content(folder / "whole.db"))
        return
    if sweep(job, folder / "whole.db", []).returncode != 0:
        sys.exit("without limits: failed")
    meet_limits(folder, job, every, content(folder / "whole.db"))
    print("limits: same content")
    print("disks: same content" if run_mounting(folder) else "disks: skipped, none can be mounted")


main()
