"""A cluster of Slurm on this machine alone, with one node and all its files in
a folder. Its daemons end with it."""

import ctypes
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import tempfile
import time

CONFIGURATION = pathlib.Path(__file__).with_name("slurm.conf.in")
DAEMONS = ("munged", "slurmctld", "slurmd")


class NoCluster(Exception):
    """It cannot be started."""


def free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


def path_of(program):
    return shutil.which(program, path=os.environ["PATH"] + ":/usr/sbin:/sbin")


def die_with_parent():
    """Whatever ends the test."""
    set_signal_of_parents_death = 1
    ctypes.CDLL(None).prctl(set_signal_of_parents_death, signal.SIGKILL)


class Cluster:
    """`with Cluster(folder):`; the environment has its clients use it."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder).resolve()
        # The name of a socket has no more than 107 bytes.
        self.sockets = tempfile.mkdtemp(prefix="foretrace-")
        self.daemons = []

    def __enter__(self):
        try:
            self.start()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *_):
        self.stop()

    def launch(self, program, *arguments):
        with open(self.folder / f"{program}.out", "wb") as log:
            self.daemons.append(subprocess.Popen(
                [path_of(program), *arguments], stdin=subprocess.DEVNULL,
                stdout=log, stderr=subprocess.STDOUT, start_new_session=True,
                preexec_fn=die_with_parent))

    def start(self):
        if os.geteuid() != 0:
            raise NoCluster("only root starts it")
        for program in DAEMONS:
            if not path_of(program):
                raise NoCluster(f"there is no {program}")
        for name in ("state", "spool"):
            (self.folder / name).mkdir(parents=True)
        munge = f"{self.sockets}/munge"
        key = self.folder / "munge.key"
        key.write_bytes(os.urandom(128))
        key.chmod(0o600)
        self.launch("munged", "--foreground", "--force", f"--socket={munge}",
                    f"--key-file={key}", f"--pid-file={self.sockets}/munge.pid",
                    f"--log-file={self.folder}/munged.log",
                    f"--seed-file={self.folder}/munge.seed")
        self.wait_until(lambda: os.path.exists(munge), "munged")
        ports = free_ports(2)
        conf = self.folder / "slurm.conf"
        conf.write_text(CONFIGURATION.read_text("ascii").format(
            host=socket.gethostname().split(".")[0], folder=self.folder,
            socket=munge, controller_port=ports[0], node_port=ports[1]),
            encoding="ascii")
        for name in list(os.environ):
            if name.startswith(("SLURM_", "SBATCH_", "SQUEUE_")):
                del os.environ[name]
        os.environ["SLURM_CONF"] = str(conf)
        self.launch("slurmctld", "-D", "-f", str(conf))
        self.launch("slurmd", "-D", "-f", str(conf), "-N", "node")
        self.wait_until(self.is_idle, "slurmctld and slurmd")

    def is_ours(self):
        """Whether clients speak to it, not to one that is there anyway."""
        return os.environ.get("SLURM_CONF") == str(self.folder / "slurm.conf")

    def is_idle(self):
        return self.ask("sinfo", "--noheader", "--format=%t") == "idle"

    def ask(self, *command):
        """What it prints, or nothing if it fails."""
        return subprocess.run(
            command, check=False, text=True, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL).stdout.strip()

    def wait_until(self, holds, what):
        end = time.monotonic() + 30
        while not holds():
            if time.monotonic() > end or any(
                    one.poll() is not None for one in self.daemons):
                raise NoCluster(f"{what} cannot be started")
            time.sleep(0.1)

    def stop(self):
        if self.is_ours():
            self.ask("scancel", "--user=root")
        for daemon in reversed(self.daemons):
            daemon.terminate()
            try:
                daemon.wait(10)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()
        shutil.rmtree(self.sockets, ignore_errors=True)
