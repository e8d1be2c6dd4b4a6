#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that Foretrace accepts the jobs of a table of generate.py: imports each job and
computes its communication volume.

  taken.py FORETRACE < JOBS
"""

import collections
import csv
import pathlib
import sys
import tempfile

import judge


foretrace = sys.argv[1]
taken = collections.Counter()
for job in csv.DictReader(sys.stdin, delimiter="\t"):
    with tempfile.TemporaryDirectory() as folder:
        try:
            written = judge.write_job(foretrace, job, int(job["world"]),
                                      pathlib.Path(folder))
            judge.run(foretrace, "volume", written, "--quiet")
            taken[job["version"]] += 1
        except RuntimeError as why:
            print(f"{job['version']}/{job['layout']}: {why}")
for version, count in taken.items():
    print(f"{version}: {count} jobs taken")
