# SPDX-License-Identifier: Apache-2.0
"""usage: peaks.py FORETRACE DATABASE JOB

Compares `peak` and `fits` of the points in a database with what `foretrace memory`
says of each."""
import csv
import json
import subprocess
import sys


def run(*command):
    return subprocess.run(command, check=True, capture_output=True,
                          text=True).stdout


def main(foretrace, database, job):
    rows = run(foretrace, "sweep", "-o", database, "--format=csv",
               "--query", "SELECT * FROM points")
    points = list(csv.DictReader(rows.splitlines()))
    for point in points:
        options = [f"-D{key}={value}" for key, value in point.items()
                   if "." in key]
        said = json.loads(run(foretrace, "memory", job, "--format=json",
                              "--quiet", *options))
        expected = said["peak"], {None: "", False: "0", True: "1"}[
            said.get("fits")]
        assert (int(point["peak"]), point["fits"]) == expected, (point, expected)
    print(f"{len(points)} points alike,",
          sum(point["fits"] == "1" for point in points), "fit")


if __name__ == "__main__":
    main(*sys.argv[1:])
