# SPDX-License-Identifier: Apache-2.0
"""Compares with tables and CSV workloads of the public generator, byte for byte."""
import os
import subprocess
import tempfile

import aicb_to_fore


def find_folders(root):
    """Folders below `root` that hold an expected table or workload, in order."""
    cases = []
    for folder, folders, files in os.walk(root):
        folders.sort()
        if "workload.txt" in files:
            cases.append(folder)
    return cases


def first_difference(expected, got):
    want, have = expected.split(b"\n"), got.split(b"\n")
    for number, (a, b) in enumerate(zip(want, have), 1):
        if a != b:
            return number, a, b
    short = min(len(want), len(have))
    end = b"<end of file>"
    return (short + 1, (want + [end])[short], (have + [end])[short])


def compare(foretrace, folder):
    """None if the case matches, else what is wrong with it."""
    with tempfile.TemporaryDirectory() as temp:
        job = os.path.join(temp, "job.fore")
        try:
            with open(job, "w") as file:
                file.write(aicb_to_fore.to_fore(folder))
        except (KeyError, ValueError) as error:
            return "can't be converted: %r" % error
        run = subprocess.run([foretrace, "compile", job, "-o", temp + "/"],
                             capture_output=True)
        if run.returncode:
            return run.stderr.decode(errors="replace")
        try:
            with open(os.path.join(temp, "workload.txt"), "rb") as file:
                got = file.read()
        except OSError:
            return "nothing was written"
    with open(os.path.join(folder, "workload.txt"), "rb") as file:
        expected = file.read()
    if got == expected:
        return None
    line, want, have = first_difference(expected, got)
    return "line %d\n  expected: %s\n  got:      %s" % (
        line, want.decode(errors="replace"), have.decode(errors="replace"))


def run_folder(foretrace, folder):
    """The one case of a folder: its name, and what is wrong or None."""
    return [(folder, compare(foretrace, folder))]
