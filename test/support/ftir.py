# SPDX-License-Identifier: Apache-2.0
"""Reads the collectives of the IR's text form (docs/ir.md). Sizes are computed
here, from the keys that stand in the text."""

import ast
import math
import operator
import re

BYTES = {"bf16": 2, "fp16": 2, "fp32": 4, "i64": 8, "i32": 4, "bool": 1}
TYPE = (rf"({'|'.join(BYTES)})\[([^\]]*)\]"
        r"((?: (?:partial|flat|single)\([^)]*\))*)")
VALUE = re.compile(rf"  (?:input|param|value) %(\S+) : ({TYPE})")
OP = re.compile(r"  ((?:%\S+(?:, )?)+) = ")
COLLECTIVE = re.compile(
    rf"  %(\S+) = (\w+)\(([\w,]+)( ends| pairs)?\) @\S+ %(\S+) : ({TYPE})(.*)")
NAME = re.compile(r'"[^"]*"|[A-Za-z_][\w.]*')
PHASE = re.compile(r" (recompute|backward|step)(?: |$)")


def quotient(a, b):
    assert a % b == 0, (a, b)
    return a // b


# Of sizes; operators by their names in Python's syntax tree.
FUNCTIONS = {"Add": operator.add, "Sub": operator.sub, "Mult": operator.mul, "Div": quotient,
             "ceil": lambda a, b: -(-a // b), "floor": operator.floordiv, "mod": operator.mod,
             "less": lambda a, b: int(a < b), "equal": lambda a, b: int(a == b),
             "lcm": math.lcm, "min": min, "max": max}


class Keys:
    """The numbers of a spec, as sizes name them: `tp`, and of a block `moe.topk`.
    What follows from others is computed."""

    def __init__(self, lines):
        self.numbers = {}
        sections, block = [], None
        for line in lines:
            words = line.split()
            if line.endswith("{"):
                sections.append(words[0])
                block = words[1] if words[0] == "block" else block
            elif line.strip() == "}":
                if sections and sections.pop() == "block":
                    block = None
            elif sections and sections[0] == "spec" and words[1:2] == ["="]:
                prefix = f"{block}." if block else ""
                prefix += {"mixer": "attention.", "network": "ffn."}.get(
                    sections[-1], "")
                if re.fullmatch(r"-?\d+", words[2]):
                    self.numbers.setdefault(prefix + words[0], int(words[2]))
            elif line.startswith("let "):
                name, _, text = line[4:].partition(" = ")
                self.numbers[name] = self.value(text)

    def value(self, text):
        """The value of an expression, in which quotients are whole."""
        named = NAME.sub(lambda name: name[0] if name[0] in FUNCTIONS else repr(name[0].strip('"')), text)
        return self.evaluate(ast.parse(named.strip(), mode="eval").body)

    def evaluate(self, node):
        if isinstance(node, ast.Constant):
            return node.value if isinstance(node.value, int) else self.numbers[node.value]
        if isinstance(node, ast.UnaryOp):
            return -self.evaluate(node.operand)
        if isinstance(node, ast.BinOp):
            return FUNCTIONS[type(node.op).__name__](self.evaluate(node.left), self.evaluate(node.right))
        return FUNCTIONS[node.func.id](*map(self.evaluate, node.args))


def types_of(text):
    """Types of an op's results, in order."""
    return [m.group(0) for m in re.finditer(TYPE, text)]


class Program:
    """Blocks as lists of (phase, op, axes, bytes), in order; stages as lists of
    (first, last, step)."""

    def __init__(self, text):
        self.keys = Keys(text.splitlines())
        self.mesh = {}
        self.blocks = {}
        self.stages = []
        self.values = {}  # by block: the type of each
        self.totals = {}  # by block, or by the first stage: numbers
        self.signatures = {}
        block, values = None, {}
        for line in text.splitlines():
            words = line.split()
            if line.startswith("mesh"):
                self.mesh = {k: int(n) for k, n in
                             (w.split(":") for w in words[1:])}
            elif line.startswith("block "):
                block, values = words[1], {}
                self.blocks[block], self.values[block] = [], values
                self.totals[block] = {}
            elif line.startswith("stage "):
                bounds = [int(n) for n in words[1].split("..")]
                self.stages.append([bounds[0], bounds[-1], None])
            elif line.startswith("  step = "):
                self.stages[-1][2] = words[2]
            elif line.startswith("}"):
                block = None
            elif block and words[0] == "total":
                self.totals[block][words[1]] = self.keys.value(
                    line.split(" = ")[1])
            elif block and words[0] == "signature":
                self.signatures[block] = [
                    re.findall(r"%([\w.]+)", part) for part in
                    re.findall(r"\(([^)]*)\)", line)]
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

    def extent(self, axes):
        """The number of ranks along axes."""
        return math.prod(self.mesh.get(axis, 1) for axis in axes)

    def message(self, op, axes, operand, result):
        """As messageBytes of ir/model/Program.h."""
        ranks = self.extent(axes)
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
            count *= self.keys.value(extent)
            # Batches and slots are those of one replica.
            if dim.split(":")[0] in ("batch", "slots"):
                count *= self.extent(("dp", "dp_replicate"))
            parts *= self.extent(axes.split(","))
        if flat := re.search(r"flat\(([^)]*)\)", rest):
            ranks = self.extent(flat.group(1).split(","))
        return -(-count // parts // ranks) * BYTES[element]
