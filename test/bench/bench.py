#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# Measures whole runs of the tool: medians of wall time, peak memory, and the
# rate at which the largest table is written. A process that does nothing is
# timed in the same loop, since starting a process is most of a short run; its
# peak memory is what the measuring process itself leaves in the figures.
"""usage: bench.py FORETRACE [RUNS]"""

import os
import pathlib
import statistics
import sys
import tempfile
import time

SOURCE = pathlib.Path(__file__).resolve().parents[2]
JOB = str(SOURCE / "docs/examples/gpt-175b.fore")
LARGE = str(SOURCE / "test/bench/large.fore")
SKELETONS = str(SOURCE / "test/bench/skeletons.fore")
CHAKRA = str(SOURCE / "test/bench/chakra.fore")
TIMED = str(SOURCE / "test/bench/timed.fore")
AXES = "--axes=" + str(SOURCE / "test/bench/gpt-175b-axes.toml")
BALANCED = str(SOURCE / "test/bench/balanced.fore")
CONFIG = str(SOURCE / "test/bench/config.json")
DEEP = str(SOURCE / "test/bench/deep.fore")
ONE_RANK = [SKELETONS, "-Dpods=64", '-Dranks="0"']
THREE_RANKS = [CHAKRA, "-Ddp=65536", '-Dranks="0,17,1048575"']
# What it is called, and what is compiled to a file for each rank: 32,768 of one
# micro-batch among them.
SETS = [
    ("skeletons", [SKELETONS]),
    ("skeletons", [SKELETONS, "-Dpods=2", '-Dranks="0-32767"',
                   "-Dtrain.global_batch=2048"]),
    ("Chakra traces", [CHAKRA]),
    ("Chakra traces", [CHAKRA, "-Ddp=256", '-Dranks="0-4095"']),
]
MEMORY = "/dev/shm" if os.path.isdir("/dev/shm") else tempfile.gettempdir()
NOTHING = "a process that does nothing"
LARGEST = "the largest table"


def measure(command):
    """Wall time in ms and peak memory in MiB of one run."""
    start = time.perf_counter()
    pid = os.posix_spawn(command[0], command, os.environ, file_actions=[
        (os.POSIX_SPAWN_OPEN, fd, os.devnull, os.O_WRONLY, 0)
        for fd in (1, 2)])
    _, status, usage = os.wait4(pid, 0)
    wall = (time.perf_counter() - start) * 1000
    if status:
        sys.exit(f"{' '.join(command)}: failed")
    return wall, usage.ru_maxrss / 1024


def through_pipe(tool):
    """Bytes of the large table, and the seconds a reader waits for them."""
    reader, writer = os.pipe()
    command = [tool, "compile", "--quiet", LARGE, "--emit=simai", "--stdout"]
    start = time.perf_counter()
    pid = os.posix_spawn(tool, command, os.environ, file_actions=[
        (os.POSIX_SPAWN_DUP2, writer, 1), (os.POSIX_SPAWN_CLOSE, reader)])
    os.close(writer)
    size = 0
    while chunk := os.read(reader, 1 << 20):
        size += len(chunk)
    os.waitpid(pid, 0)
    return size, time.perf_counter() - start


def compile_to(folder, tool, job):
    """Seconds and peak MiB to compile to a folder that is not there."""
    wall, memory = measure([tool, "compile", *job, "--quiet", "-o",
                            f"{folder}/"])
    return wall / 1000, memory


def write_plainly(folder, files):
    """Seconds to write the same files with one `write` each."""
    start = time.perf_counter()
    os.mkdir(folder)
    for name, content in files.items():
        fd = os.open(f"{folder}/{name}", os.O_CREAT | os.O_WRONLY, 0o666)
        os.write(fd, content)
        os.close(fd)
    return time.perf_counter() - start


def many_files(place, tool, kind, job, memory):
    """Prints the row of a file for each rank, written at a place."""
    # Nothing is removed before the end: ext4 is slow to make files after that.
    with tempfile.TemporaryDirectory(dir=place) as name:
        folder = pathlib.Path(name)
        compile_to(folder / "first", tool, job)
        files = {path.name: path.read_bytes()
                 for path in (folder / "first").iterdir()}
        walls, plain = [], []
        for run in range(5):
            walls.append(compile_to(folder / f"ours{run}", tool, job)[0])
            plain.append(write_plainly(folder / f"plain{run}", files))
    wall = statistics.median(walls)
    size = sum(map(len, files.values())) / 1e6
    print(f"| {len(files):,} {kind}, {size:.0f} MB, to {place} | {wall:.2f} s "
          f"| {size / wall:.0f} MB/s | {wall / statistics.median(plain):.2f} "
          f"| {memory:.1f} MiB |")


def checked(tool):
    """The size in MB of a trace, and MB/s at which it is checked, in memory."""
    with tempfile.TemporaryDirectory(dir=MEMORY) as name:
        folder = pathlib.Path(name)
        compile_to(folder / "all", tool, [SKELETONS, '-Dranks="0"'])
        row = (folder / "all/rank0.txt").read_text(encoding="utf-8")
        long = folder / "long.txt"
        long.write_text(row.replace("[R,", "[2048,") * 400, encoding="utf-8")
        size = long.stat().st_size / 1e6
        wall, _ = measure([tool, "check", SKELETONS, "--trace", str(long)])
        return size, size / wall * 1000


def sweeps(tool):
    """Prints a row for each sweep: what it costs to write, and to have more."""
    print("\n| sweep | points | median | points/s | peak memory |\n"
          "|---|---|---|---|---|")
    command = [tool, "sweep", AXES, "--quiet"]
    with tempfile.TemporaryDirectory(dir=MEMORY) as name:
        rows = {
            "a quarter, one thread": [
                2985984, JOB, "-Dtrain.sequence=256", "--threads=1"],
            "all, one thread": [11943936, JOB, "--threads=1"],
            "all, two threads": [11943936, JOB, "--threads=2"],
            "all, to a file": [11943936, JOB, "--threads=2", "-o", f"{name}/all.db"],
            "all, the Pareto front to a file": [
                11943936, JOB, "--threads=2", "--where=peak <= 80 GB",
                "--keep=pareto(peak, bubble, messages)",
                "-o", f"{name}/front.db"],
            "all, the fastest": [
                11943936, TIMED, "--threads=2", "--minimize=time", "--keep=top(3)"],
        }
        for row, (points, *options) in rows.items():
            samples = []
            for _ in range(3):
                for left in pathlib.Path(name).iterdir():
                    left.unlink()
                samples.append(measure([*command, *options]))
            wall = statistics.median(wall for wall, _ in samples)
            memory = max(memory for _, memory in samples)
            print(f"| {row} | {points:,} | {wall / 1000:.1f} s "
                  f"| {points / wall / 1000:.2f} million | {memory:.0f} MiB |")


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    tool = os.path.abspath(sys.argv[1])
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 51
    emit = ["--quiet", "--emit=simai", "-o", "/dev/null"]
    # DeepSeek-V3 on 512 times the devices of its report.
    million = [str(SOURCE / "test/bench/deepseek-v3.fore"),
               "-Dparallel.world=1048576", "-Dtrain.global_batch=7864320"]
    commands = {
        NOTHING: ["/bin/true"],
        "start-up (`--version`)": [tool, "--version"],
        "GPT-175B, 1,024 ranks, to a table": [tool, "compile", JOB, *emit],
        "the same with 1,048,576 ranks": [
            tool, "compile", JOB, *emit, "-Dparallel.world=1048576",
            "-Dtrain.global_batch=1572864"],
        "one rank's skeleton of 1,048,576": [
            tool, "compile", *ONE_RANK, "--quiet", "-o",
            tempfile.gettempdir() + "/"],
        "three ranks' Chakra traces of 1,048,576": [
            tool, "compile", *THREE_RANKS, "--quiet", "-o",
            tempfile.gettempdir() + "/"],
        **{f"`foretrace {name}`, DeepSeek-V3 with 1,048,576 ranks": [
            tool, name, *million, "-o", "/dev/null"]
           for name in ("params", "flops", "memory", "volume", "report")},
        "`foretrace diff` of two such jobs": [
            "/bin/sh", "-c", '"$0" diff "$@"; test $? = 1', tool, *million,
            "--with=train.recompute=full"],
        "1,000 layers balanced over 128 stages": [tool, "plan", BALANCED],
        "`import hf` of 94 layers": [tool, "import", "hf", CONFIG],
        "`export megatron` of 4,000 layers": [tool, "export", "megatron", DEEP],
        LARGEST: [tool, "compile", LARGE, *emit],
    }
    samples = {name: [] for name in commands}
    for run in range(runs):
        for name, command in commands.items():
            if name != LARGEST or run < 5:
                samples[name].append(measure(command))

    nothing = statistics.median(wall for wall, _ in samples[NOTHING])
    print("| run | median | times a process that does nothing | peak memory |")
    print("|---|---|---|---|")
    for name, values in samples.items():
        wall = statistics.median(wall for wall, _ in values)
        memory = max(memory for _, memory in values)
        print(f"| {name} | {wall:.1f} ms | {wall / nothing:.1f} "
              f"| {memory:.1f} MiB |")
    size, seconds = through_pipe(tool)
    wall = statistics.median(wall for wall, _ in samples[LARGEST])
    print(f"\nThe largest table has {size / 1e6:.0f} MB: "
          f"{size / 1e3 / wall:.0f} MB/s to /dev/null, "
          f"{size / 1e6 / seconds:.0f} MB/s through a pipe.")
    with tempfile.TemporaryDirectory(dir=MEMORY) as name:
        memories = [compile_to(f"{name}/{place}", tool, job)[1]
                    for place, (_, job) in enumerate(SETS)]
    print("\n| files | median | rate | times a plain write of each file "
          "| peak memory |\n|---|---|---|---|---|")
    for (kind, job), memory in zip(SETS, memories):
        for place in dict.fromkeys((MEMORY, tempfile.gettempdir())):
            many_files(place, tool, kind, job, memory)
    sweeps(tool)
    print("\nA trace of {:.0f} MB is checked at {:.0f} MB/s."
          .format(*checked(tool)))


if __name__ == "__main__":
    main()
