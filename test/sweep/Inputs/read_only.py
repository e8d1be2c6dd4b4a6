"""usage: read_only.py FOLDER JOB

Sweeps to a folder in which nothing can be written, as it may be with rights or,
for root, with a file system that is mounted so.
"""

import os
import pathlib
import subprocess
import sys

from content import MAY_MOUNT, run_mounting

SWEEP = ["foretrace", "sweep", sys.argv[2], "--sweep=parallel.pp=1,2"]


def expect(code, text, *command):
    run = subprocess.run(command, check=False, text=True,
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if run.returncode != code or text not in run.stdout:
        sys.exit(f"{command}: exit code {run.returncode}: {run.stdout}")


def fill(folder):
    """With a sweep that is done, and its shards."""
    for shard in (1, 2):
        subprocess.run([*SWEEP, "-o", f"{folder}/{shard}.db", "--quiet",
                        f"--shard={shard}/2"], check=True,
                       stdout=subprocess.DEVNULL)
    subprocess.run([*SWEEP, "-o", f"{folder}/done.db", "--quiet"], check=True,
                   stdout=subprocess.DEVNULL)


def use(folder):
    whole, shards = f"{folder}/done.db", [f"{folder}/1.db", f"{folder}/2.db"]
    new = f"{folder}/new.db"
    expect(3, f"`{new}`: cannot be written: ", *SWEEP, "-o", new)
    expect(3, f"`{new}.shards`: cannot be made: ", *SWEEP, "-o", new,
           "--shards=2")
    expect(3, f"`{whole}`: cannot be written: ", *SWEEP, "-o", whole)
    expect(3, f"`{new}`: cannot be written: ", "foretrace", "merge", *shards,
           "-o", new)
    # All of it can be read.
    expect(0, "count(*)\n2\n", "foretrace", "sweep", "-o", whole, "--query",
           "SELECT count(*) FROM points")
    expect(0, "", "foretrace", "merge", *shards, "-o",
           f"{folder}/../merged.db")
    print("nothing is written, all is read")


def main():
    folder = pathlib.Path(sys.argv[1]) / "read-only"
    if MAY_MOUNT in sys.argv:
        mount = ["mount", "-t", "tmpfs", "none", folder]
        subprocess.run(mount, check=True)
        fill(folder)
        subprocess.run(["mount", "-o", "remount,ro", folder], check=True)
        use(folder)
        return
    folder.mkdir()
    if os.geteuid() != 0:
        fill(folder)
        folder.chmod(0o555)
        use(folder)
        folder.chmod(0o755)
        return
    if not run_mounting(folder):
        print("skipped: root can write everywhere")


main()
