# SPDX-License-Identifier: Apache-2.0
"""usage: shipped_clusters.py SOURCE_ROOT

Compiles a job on all devices of each cluster of the library, with times from
its device, and prints what the job's spec says of the cluster."""

import pathlib
import re
import sys

import tool

JOB = """import "models/gpt3-125m.fore"
import "clusters/{}" as pod
train {{ sequence = 2048  micro_batch = 1 }}
parallel {{ world = {} }}
cluster : pod {{ }}
cost roofline {{ }}
"""


root = pathlib.Path(sys.argv[1])
page = (root / "docs/clusters.md").read_text(encoding="utf-8")
for path in sorted((root / "lang/clusters").glob("*.toml")):
    text = path.read_text(encoding="utf-8")
    assert text.startswith("# SPDX-License-Identifier: Apache-2.0\n"), path
    assert f"\n{path.stem} " in page, path
    nodes, node = (int(re.search(rf"^{key} = (\d+)", text, re.M).group(1))
                   for key in ("nodes", "devices_per_node"))
    spec = tool.ir("-", input=JOB.format(path.name, nodes * node))
    assert " derived" in re.search("peak_flops.*", spec).group(0), path
    tiers = re.findall(r"tier (\w+) {\n +devices = (\d+)", spec)
    rate = re.findall(r"bandwidth = (\d+) derived", spec)[-1]
    print(f"{path.stem}: {nodes * node} devices, "
          + ", ".join(" ".join(tier) for tier in tiers)
          + f"; rail at {int(rate) // 10**9} GB/s")
