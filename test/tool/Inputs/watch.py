# SPDX-License-Identifier: Apache-2.0
"""usage: watch.py FOLDER

Changes the files of `foretrace plan job.fore --watch` in the folder, and then interrupts it.
"""

import os
import pathlib
import signal
import subprocess
import sys
import time

PATIENCE = 60


def wait_for(path, text, count):
    """Waits until the file has the text so many times."""
    end = time.monotonic() + PATIENCE
    while path.read_text(encoding="utf-8").count(text) < count:
        if time.monotonic() > end:
            sys.exit(f"no {text!r} for the {count}. time:\n{path.read_text(encoding='utf-8')}")
        time.sleep(0.02)


def replace(path, old, new):
    """Writes the file as an editor does: another one gets its name."""
    other = path.with_suffix(".new")
    other.write_text(path.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")
    os.replace(other, path)


signal.signal(signal.SIGINT, signal.SIG_DFL)  # who runs the tests may ignore it
folder = pathlib.Path(sys.argv[1])
job, model, out = (folder / name for name in ("job.fore", "model.fore", "out.txt"))
with out.open("w", encoding="utf-8") as stream:
    process = subprocess.Popen(["foretrace", "plan", "job.fore", "--watch"], cwd=folder,
                               stdout=stream, stderr=subprocess.STDOUT)
try:
    wait_for(out, "24 layer", 1)
    replace(model, "layers = 24", "layers = 12")
    wait_for(out, "12 layer", 1)
    replace(job, "pp = 1", "pp = 5")
    wait_for(out, "[world-indivisible]", 1)
    replace(job, "pp = 5", "pp = 2")
    wait_for(out, "6 layer", 2)
    process.send_signal(signal.SIGINT)
    code = process.wait(PATIENCE)
finally:
    process.kill()
text = out.read_text(encoding="utf-8")
print(f"exit {code}, {text.count('largest stage')} plans, "
      f"{'with' if chr(27) in text else 'without'} control characters")
