# SPDX-License-Identifier: Apache-2.0
"""usage: peaks.py DATABASE JOB

Compares `peak` and `fits` of the points in a database with what `foretrace memory`
says of each."""
import sys

import tool

database, job = sys.argv[1:]
points = tool.table("sweep", "-o", database, "--query", "SELECT * FROM points")
for point in points:
    keys = {key: value for key, value in point.items() if "." in key}
    said = tool.document("memory", job, *tool.defined(keys))
    expected = said["peak"], {None: "", False: "0", True: "1"}[said.get("fits")]
    assert (int(point["peak"]), point["fits"]) == expected, (point, expected)
print(f"{len(points)} points alike,", sum(point["fits"] == "1" for point in points), "fit")
