# SPDX-License-Identifier: Apache-2.0
"""Runs the jobs of a table one after the other, with a process for each logged rank.

The process that has imported the framework forks the ranks. The folder of a job contains
the output of each rank, its calls, and the file `done` if no rank failed.
"""

import csv
import os
import pathlib
import random
import signal
import sys
import time
import traceback

TIMEOUT = 60
TIME_TO_FAIL = 4


def ranks_of(job):
    """Lists the ranks to run: all, or some of them in a fake process group."""
    ranks = job["ranks"]
    return range(int(job["world"])) if ranks == "all" else [*map(int, ranks.split(","))]


def be_rank(rank, job, folder, port, program):
    """Runs one rank in a forked process, and exits."""
    output = os.open(folder / f"log{rank}.txt", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(output, 1)
    os.dup2(output, 2)
    os.environ.update(
        RANK=str(rank), LOCAL_RANK=str(rank), WORLD_SIZE=job["world"],
        LOCAL_WORLD_SIZE=job["world"], MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    status = 1
    try:
        program(job, folder)
        status = 0
    except SystemExit as stopped:
        status = stopped.code or 0
    except BaseException:  # pylint: disable=broad-exception-caught
        traceback.print_exc()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status if isinstance(status, int) else 1)


def wait_for(processes):
    """Returns whether all succeeded. After a failure, others have time to print an error."""
    deadline, is_good = time.monotonic() + TIMEOUT, True
    while processes and time.monotonic() < deadline:
        for process in list(processes):
            ended, status = os.waitpid(process, os.WNOHANG)
            if ended:
                processes.discard(process)
                if status and is_good:
                    is_good = False
                    deadline = min(deadline, time.monotonic() + TIME_TO_FAIL)
        time.sleep(0.05)
    for process in processes:
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)
    return is_good and not processes


def run(job, folder, program):
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / "job.tsv", "w", encoding="utf-8") as file:
        writer = csv.DictWriter(file, job, delimiter="\t", lineterminator="\n")
        writer.writeheader()
        writer.writerow(job)
    port = random.randint(20000, 50000)
    processes = set()
    for rank in ranks_of(job):
        process = os.fork()
        if not process:
            be_rank(rank, job, folder, port, program)
        processes.add(process)
    return wait_for(processes)


def run_all(version, program):
    """Runs the jobs of a version in the table of standard input, unless they are done."""
    root = pathlib.Path(os.environ["OUT"]) / version
    for job in csv.DictReader(sys.stdin, delimiter="\t"):
        folder = root / job["layout"]
        if job["version"] != version or (folder / "done").exists():
            continue
        start = time.monotonic()
        is_done = run(job, folder, program)
        if is_done:
            (folder / "done").touch()
        print(f"{version}/{job['layout']}: {'done' if is_done else 'failed'} after "
              f"{time.monotonic() - start:.1f} s", flush=True)
