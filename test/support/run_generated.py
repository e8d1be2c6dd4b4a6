# SPDX-License-Identifier: Apache-2.0
"""usage: run_generated.py FIRST COUNT [--also=FORETRACE] [--jobs=N]

Compiles jobs of the generator, each in a process of its own: it ends soon, in
little memory, with files or with an error at a place of the job. Another build
of the tool, with sanitizers, must say the same."""
import argparse
import collections
import concurrent.futures
import os
import pathlib
import re
import resource
import shutil
import subprocess
import sys
import tempfile

SECONDS, MIB = 2, 200
MOST_SECONDS = 60  # then it is ended
# What a run may write is no fault of a place in the job.
ERROR = re.compile(r"(?m)^job\.fore:\d+:\d+: error: .* \[[a-z0-9-]+\]$"
                   r"|^foretrace: error: .* \[output-too-large\]$")
STEP = 500  # jobs that lie in a folder at a time

Run = collections.namedtuple("Run", "code messages seconds mib")


def compile_job(tool, folder):
    """Compiles job.fore in a folder; to a plan if it says nothing else."""
    emits = re.search(r"(?m)^emit ", (folder / "job.fore").read_text())
    with open(folder / "messages", "w+b") as messages:
        process = subprocess.Popen(
            [tool, "compile", "job.fore", "-o", "out/", "--quiet",
             "--threads=1", "--max-output=1MiB",
             *([] if emits else ["--emit=plan"])], cwd=folder,
            stdout=subprocess.DEVNULL, stderr=messages,
            preexec_fn=lambda: resource.setrlimit(
                resource.RLIMIT_CPU, (MOST_SECONDS, MOST_SECONDS)))
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        seconds = used.ru_utime + used.ru_stime  # whatever else runs
        messages.seek(0)
        text = messages.read().decode()
    shutil.rmtree(folder / "out", ignore_errors=True)
    return Run(process.returncode, text, seconds, used.ru_maxrss / 1024)


def complaints(run, other):
    # 3: two blocks of the job write the same file.
    is_known = run.code in (0, 1) or run.code == 3 and "[cannot-write]" in run.messages
    if not is_known or run.code == 1 and not ERROR.search(run.messages):
        yield f"exits with {run.code}: {run.messages}"
    if run.seconds > SECONDS or run.mib > MIB:
        yield f"takes {run.seconds:.1f} s and {run.mib:.0f} MiB"
    if other and (other.code, other.messages) != (run.code, run.messages):
        yield (f"is another verdict elsewhere: {run.code} and {other.code}\n"
               f"{run.messages}{other.messages}")


def run_one(job, also):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        shutil.copy(job, folder / "job.fore")
        run = compile_job("foretrace", folder)
        return run, list(complaints(run, also and compile_job(also, folder)))


parser = argparse.ArgumentParser(usage=__doc__.removeprefix("usage: "))
parser.add_argument("first", type=int)
parser.add_argument("count", type=int)
parser.add_argument("--also")
parser.add_argument("--jobs", type=int, default=2)
options = parser.parse_args()
compiled = found = 0
seconds = mib = 0.0
end = options.first + options.count
with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
    for first in range(options.first, end, STEP):
        with tempfile.TemporaryDirectory() as folder:
            numbers = range(first, min(first + STEP, end))
            subprocess.run(["generate-jobs", str(first), str(len(numbers)),
                            folder], check=True)
            jobs = [f"{folder}/{number}.fore" for number in numbers]
            runs = pool.map(run_one, jobs, [options.also] * len(jobs))
            for number, (run, wrong) in zip(numbers, runs):
                compiled += run.code == 0
                seconds = max(seconds, run.seconds)
                mib = max(mib, run.mib)
                found += len(wrong)
                for what in wrong:
                    print(f"job {number} {what}", flush=True)
print(f"{options.count} jobs, {compiled} compiled; the slowest took "
      f"{seconds:.2f} s, the largest {mib:.0f} MiB")
print(f"{found} findings")
sys.exit(bool(found))
