# SPDX-License-Identifier: Apache-2.0
"""usage: run_simgrid.py LIST...

Runs traces in SimGrid: on hosts of 1 Gflop/s, so that computations are ns, each with a
link of 50 GB/s and 250 ns. The end must not be before the rank that computes most is
done, nor after all have done everything one after the other.
"""
import os
import re
import subprocess
import sys
import tempfile

import replay

PLATFORM = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <cluster id="c" prefix="n" suffix="" radical="0-%d" speed="1Gf" bw="50GBps"
           lat="250ns"/>
</platform>
"""
NS_PER_BYTE, LATENCY = 0.02, 500  # over two links


def simulate(path, folder):
    """The end, in ns."""
    with open(path) as file:
        ranks = len(file.read().split())
    with open(os.path.join(folder, "platform.xml"), "w") as file:
        file.write(PLATFORM % (ranks - 1))
    with open(os.path.join(folder, "hosts"), "w") as file:
        file.writelines("n%d\n" % rank for rank in range(ranks))
    run = subprocess.run(
        ["smpirun", "-replay", os.path.basename(path), "-np", str(ranks),
         "-platform", os.path.join(folder, "platform.xml"),
         "-hostfile", os.path.join(folder, "hosts"), "-no-privatize",
         "--cfg=network/model:CM02", "--cfg=network/TCP-gamma:0",
         "--cfg=network/crosstraffic:0", "--log=root.fmt:%.9r%e%m%n"],
        cwd=os.path.dirname(path), text=True, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, timeout=300)
    # A deadlock is no failure to it.
    assert run.returncode == 0 and not re.search(
        "(?i)deadlock|critical|still blocked", run.stdout), run.stdout[-2000:]
    return float(re.search(r"^([\d.]+) Simulation time", run.stdout,
                           re.M)[1]) * 1e9


for path in map(os.path.abspath, sys.argv[1:]):
    run = replay.Run(path)
    assert run.ends(), "some wait for ever"
    ranks = run.ranks
    with tempfile.TemporaryDirectory() as folder:
        end = simulate(path, folder)
    computed = [rank.computed for rank in ranks]
    messages = sum(action[0] == "isend"
                   for rank in ranks for action in rank.actions)
    sent = sum(action[3] for rank in ranks for action in rank.actions
               if action[0] == "isend")
    most = sum(computed) + sent * NS_PER_BYTE + messages * LATENCY
    # Times are written to the ns.
    assert max(computed) - 1 <= end <= most * 1.01 + 1, (
        max(computed), end, most)
    print("%s: the end is between the bounds" % os.path.basename(path))
