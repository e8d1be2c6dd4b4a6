#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# Compiles a job on all devices of each cluster of the library, with times from
# its device, and prints what the job's spec says of the cluster.
"""usage: shipped_clusters.py FORETRACE SOURCE_ROOT FOLDER"""

import pathlib
import re
import subprocess
import sys

JOB = """import "models/gpt3-125m.fore"
import "clusters/{}" as pod
train {{ sequence = 2048  micro_batch = 1 }}
parallel {{ world = {} }}
cluster : pod {{ }}
cost roofline {{ }}
"""


def main():
    tool, root, folder = sys.argv[1], *map(pathlib.Path, sys.argv[2:])
    page = (root / "docs/clusters.md").read_text(encoding="utf-8")
    for path in sorted((root / "lang/clusters").glob("*.toml")):
        text = path.read_text(encoding="utf-8")
        assert text.startswith("# SPDX-License-Identifier: Apache-2.0\n"), path
        assert f"\n{path.stem} " in page, path
        nodes, node = (int(re.search(rf"^{key} = (\d+)", text, re.M).group(1))
                       for key in ("nodes", "devices_per_node"))
        job = folder / f"{path.stem}.fore"
        job.write_text(JOB.format(path.name, nodes * node), encoding="utf-8")
        spec = subprocess.run(
            [tool, "compile", job, "--emit=ir", "--stdout"], check=True,
            stdout=subprocess.PIPE, text=True).stdout
        assert " derived" in re.search("peak_flops.*", spec).group(0), path
        tiers = re.findall(r"tier (\w+) {\n +devices = (\d+)", spec)
        rate = re.findall(r"bandwidth = (\d+) derived", spec)[-1]
        print(f"{path.stem}: {nodes * node} devices, "
              + ", ".join(" ".join(tier) for tier in tiers)
              + f"; rail at {int(rate) // 10**9} GB/s")


if __name__ == "__main__":
    main()
