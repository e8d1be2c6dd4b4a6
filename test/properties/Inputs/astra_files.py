# SPDX-License-Identifier: Apache-2.0
"""usage: astra_files.py SOURCE_ROOT

Files for ASTRA-sim of jobs on each cluster of the library agree: the product of
the dimensions is the world, all lists are as long as they are many, rates are
those of the tiers, and the script has as many ranks.
"""
import json
import math
import pathlib
import re
import sys

import tool

JOB = """import "clusters/{cluster}" as pod
model tiny {{ vocab = 128  hidden = 64  attention mha {{ heads = 8 }}
  ffn {{ intermediate = 256 }}  layers = 4 }}
train {{ sequence = 64  micro_batch = 1 }}
parallel {{ world = {world}  {mesh} }}
cluster : pod {{ }}
{cost}
emit astra-sim {{ network = {network}  splits = 1 }}
"""
MESHES = ["", "tp = 2  sequence_parallel = true  zero = 1", "tp = 2  pp = 2",
          "cp = 2  zero = 3"]


def read_network(path):
    """The lists of a network file, by key."""
    lists = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            key, values = re.fullmatch(r"(\w+): \[ (.*) \]", line).groups()
            lists[key] = values.split(", ")
    assert list(lists) == ["topology", "npus_count", "bandwidth", "latency"]
    return lists


def check(folder, world, network):
    lists = read_network(folder / "job.network.yml")
    dimensions = len(lists["topology"])
    assert {len(values) for values in lists.values()} == {dimensions}, lists
    counts = [int(count) for count in lists["npus_count"]]
    assert math.prod(counts) == world and min(counts) > 1, lists
    assert network == "unaware" or dimensions == 1, lists
    assert all(float(rate) > 0 for rate in lists["bandwidth"]), lists
    assert all(float(time) >= 0 for time in lists["latency"]), lists
    assert set(lists["topology"]) <= {"Switch", "FullyConnected", "Ring"}, lists
    system = json.loads((folder / "job.system.json").read_text("utf-8"))
    algorithms = [system[key] for key in system if "implementation" in key]
    assert len(algorithms) == 4, system
    assert all(len(each) == dimensions for each in algorithms), system
    assert system["local-mem-bw"] > 0 and system["peak-perf"] > 0, system
    memory = json.loads((folder / "job.memory.json").read_text("utf-8"))
    assert memory == {"memory-type": "NO_MEMORY_EXPANSION"}
    script = (folder / "job.astra-sim.sh").read_text("utf-8")
    assert f"\nranks={world}\n" in script
    assert f"\nnetwork={network.capitalize()}\n" in script
    return system["roofline-enabled"]


root, jobs = pathlib.Path(sys.argv[1]), 0
for path in sorted((root / "lang/clusters").glob("*.toml")):
    nodes, node = (int(re.search(rf"^{key} = (\d+)", path.read_text("utf-8"), re.M)[1])
                   for key in ("nodes", "devices_per_node"))
    for world in sorted({node, 2 * node, nodes * node}):
        for at, mesh in enumerate(MESHES):
            network = ("unaware", "aware")[at % 2]
            cost = ("cost uncosted { }", "")[at // 2]
            with tool.scratch() as folder:
                (folder / "job.fore").write_text(JOB.format(
                    cluster=path.name, world=world, mesh=mesh, cost=cost, network=network), "utf-8")
                tool.run("compile", folder / "job.fore", "--quiet", "-o", f"{folder}/")
                is_timed = not cost and path.stem != "test-pod"
                assert check(folder, world, network) == (0 if is_timed else 1), (path, world, mesh)
            jobs += 1
print(f"{jobs} jobs, all files agree")
