# SPDX-License-Identifier: Apache-2.0
"""usage: memory.py MEMORY.json STAGE STATIC PEAK PHASE: compares what a rank of a
stage was measured to have, in MiB, with `foretrace memory`. What is always
there may differ by 0.2 %, the peak by 0.3 % or by a percentage given last."""
import json
import sys

import tool

MIB = 2**20
ALWAYS = "weights", "gradients", "optimizer", "dummy_wgrads"


def main(path, stage, static, peak, phase, percent=0.3):
    with open(path, encoding="ascii") as file:
        rows = json.load(file)["stages"]
    row = next(r for r in rows if int(stage) in tool.each(r["stages"]))
    always = sum(row[name] for name in ALWAYS)
    compare("static", always, float(static), 0.2)
    compare("peak", row["peak"], float(peak), float(percent))
    if not row["when"].startswith(phase):
        sys.exit(f"it peaks in {row['when']}, not in {phase}")


def compare(what, got, measured, percent):
    off = 100 * (got / MIB / measured - 1)
    print(f"{what}: {got / MIB:.2f} of {measured} MiB, {off:+.3f} %")
    if abs(off) > percent:
        sys.exit(f"{what} is off by more than {percent} %")


main(*sys.argv[1:])
