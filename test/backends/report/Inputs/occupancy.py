# SPDX-License-Identifier: Apache-2.0
"""usage: occupancy.py JOB...

Holds the curve of the report of each job against `foretrace memory` of jobs with such requests, and
prints how many points it has, and the last one.
"""

import pathlib
import sys

import tool


def fitting(job, tokens):
    """The sequences of so many tokens of input that fit."""
    return tool.document("memory", job, f"-Drequests.input={tokens}", "-Drequests.prefix=0")["sequences"]


for job in sys.argv[1:]:
    page = pathlib.Path(job).with_suffix(".html")
    tool.run("report", job, "--quiet", "-o", page)
    data = tool.page_data(page.read_text(encoding="utf-8"))
    requests = data["plan"]["requests"]
    points = data["occupancy"]
    wrong = [point for point in points if fitting(job, point[0] - requests["output"]) != point[1]]
    fit = data["plan"].get("sequences")
    own = [requests["input"] + requests["output"], int(fit["value"] if isinstance(fit, dict) else fit)]
    print(f"{job}: {len(points)} points, {len(wrong)} wrong, to {points[-1]}")
    if own not in points:
        print("without that of the job", own)
