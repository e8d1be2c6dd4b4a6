# SPDX-License-Identifier: Apache-2.0
"""Reads the collectives of the IR's text form (docs/ir.md)."""

import re

BYTES = {"bf16": 2, "fp16": 2, "fp32": 4, "i64": 8, "i32": 4, "bool": 1}
TYPE = (rf"({'|'.join(BYTES)})\[([^\]]*)\]"
        r"((?: (?:partial|flat|single)\([^)]*\))*)")
VALUE = re.compile(rf"  (?:input|param|value) %(\S+) : ({TYPE})")
OP = re.compile(r"  ((?:%\S+(?:, )?)+) = ")
COLLECTIVE = re.compile(
    rf"  %(\S+) = (\w+)\(([\w,]+)( ends| pairs)?\) @\S+ %(\S+) : ({TYPE})(.*)")
PHASE = re.compile(r" (recompute|backward|step)(?: |$)")


def types_of(text):
    """Types of an op's results, in order."""
    return [m.group(0) for m in re.finditer(TYPE, text)]


class Program:
    """Blocks as lists of (phase, op, axes, bytes), in order; stages as lists of
    (first, last, step)."""

    def __init__(self, text):
        self.mesh = {}
        self.blocks = {}
        self.stages = []
        block, values = None, {}
        for line in text.splitlines():
            words = line.split()
            if line.startswith("mesh"):
                self.mesh = {k: int(n) for k, n in
                             (w.split(":") for w in words[1:])}
            elif line.startswith("block "):
                block, values = words[1], {}
                self.blocks[block] = []
            elif line.startswith("stage "):
                bounds = [int(n) for n in words[1].split("..")]
                self.stages.append([bounds[0], bounds[-1], None])
            elif line.startswith("  step = "):
                self.stages[-1][2] = words[2]
            elif line.startswith("}"):
                block = None
            elif block:
                self.read(line, block, values)

    def read(self, line, block, values):
        if match := VALUE.match(line):
            values[match.group(1)] = match.group(2)
        elif match := OP.match(line):
            names = [n.lstrip("%") for n in match.group(1).split(", ")]
            types = types_of(line[line.find(" : "):])
            values.update(zip(names, types))
        if match := COLLECTIVE.match(line):
            result, op, axes, ends, operand = match.groups()[:5]
            axes = (ends.strip(),) if ends else tuple(axes.split(","))
            phase = PHASE.search(match.groups()[-1])
            self.blocks[block].append(
                (phase.group(1) if phase else "forward", op, axes,
                 self.message(op, axes, values[operand], values[result])))

    def message(self, op, axes, operand, result):
        """As messageBytes of ir/Program.h."""
        ranks = 1
        for axis in axes:
            ranks *= self.mesh.get(axis, 1)
        if op == "all_gather":
            return self.bytes(operand) * ranks
        if op == "reduce_scatter":
            return self.bytes(result) * ranks
        if op == "ring":
            reduces = f"partial({axes[0]})" in operand
            return self.bytes(result if reduces else operand) * (ranks - 1)
        return self.bytes(operand)

    def bytes(self, text):
        """Of a type, on one rank."""
        element, dims, rest = re.match(TYPE, text).groups()
        count = ranks = parts = 1
        for dim in dims.split():
            extent, _, axes = dim.split(":")[1].partition("@")
            count *= int(extent)
            for axis in filter(None, axes.split(",")):
                parts *= self.mesh.get(axis, 1)
        if flat := re.search(r"flat\(([^)]*)\)", rest):
            for axis in flat.group(1).split(","):
                ranks *= self.mesh.get(axis, 1)
        return -(-count // parts // ranks) * BYTES[element]
