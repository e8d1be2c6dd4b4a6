"""usage: slurm.py FOLDER JOB

Runs a sweep on a cluster of Slurm, as it is, with a shard that is put back into
the queue, and with one that is killed; compares what comes of it with what one
process finds.
"""

import pathlib
import random
import signal
import subprocess
import sys
import time

from cluster import Cluster, NoCluster
from content import command, content, sizes

# One unit for each of 2 shards. A seed takes a job of its own, and some time.
AXES = ("seed=1..512", "parallel.tp=1..16", "parallel.pp=1..16")
SHARDS = 2


class Round:
    """A sweep on the cluster, which is waited for."""

    def __init__(self, cluster, job, database):
        self.cluster, self.database = cluster, database
        self.process = subprocess.Popen(
            command(job, database, AXES, f"--shards={SHARDS}", "--engine=slurm",
                    "--wait", "--threads=1"),
            text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        said = self.process.stdout.readline()
        if not said.startswith("job "):
            sys.exit(said + self.process.communicate()[0])
        self.array = said.split()[1].rstrip(":")

    def task(self, shard):
        return f"{self.array}_{shard}"

    def await_shard(self, shard):
        """Returns a moment after it began to write."""
        path = pathlib.Path(f"{self.database}.shards/{shard}-of-{SHARDS}.db")
        end = time.monotonic() + 60
        while not path.exists() and time.monotonic() < end:
            time.sleep(0.01)

    def restarts(self, shard):
        shown = self.cluster.ask("scontrol", "show", "job", self.task(shard))
        return "Restarts=0" not in shown

    def end(self):
        try:
            said = self.process.communicate(timeout=600)[0]
        except subprocess.TimeoutExpired:
            self.process.kill()
            sys.exit("the jobs do not end")
        return self.process.returncode, said


def expect(holds, text):
    if not holds:
        sys.exit(text)


def interrupted(cluster, folder, job, whole, chance):
    """Rounds in which something happens to a shard."""
    requeued = Round(cluster, job, folder / "requeued.db")
    requeued.await_shard(2)
    time.sleep(chance.uniform(0, 0.5))
    cluster.ask("scontrol", "requeue", requeued.task(2))
    code, said = requeued.end()
    expect(code == 0, f"exit code {code} after a requeue: {said}")
    expect(requeued.restarts(2), "nothing was requeued")
    expect(content(folder / "requeued.db") == whole, "requeued: other content")

    killed = Round(cluster, job, folder / "killed.db")
    killed.await_shard(2)
    time.sleep(chance.uniform(0, 0.2))
    cluster.ask("scancel", "--signal=KILL", "--full", killed.task(2))
    code, said = killed.end()
    expect(code == 3 and "the jobs ended without it" in said,
           f"exit code {code} after a kill: {said}")
    code, said = Round(cluster, job, folder / "killed.db").end()
    expect(code == 0, f"exit code {code} when submitted again: {said}")
    expect(content(folder / "killed.db") == whole, "killed: other content")


def main():
    # So that the daemons are stopped.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("terminated"))
    folder, job = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2]
    subprocess.run(command(job, folder / "whole.db", AXES), check=True,
                   stdout=subprocess.DEVNULL)
    whole = content(folder / "whole.db")
    try:
        with Cluster(folder / "cluster") as cluster:
            code, said = Round(cluster, job, folder / "all.db").end()
            expect(code == 0, f"exit code {code}: {said}")
            expect(content(folder / "all.db") == whole, "other content")
            interrupted(cluster, folder, job, whole, random.Random(7))
    except NoCluster as why:
        print(f"skipped: {why}")
        return
    print(sizes(whole))


main()
