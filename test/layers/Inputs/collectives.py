# SPDX-License-Identifier: Apache-2.0
"""usage: collectives.py JOB ATTENTION

Prints the parameters of a layer that has the attention and no network, and its collectives
over tp, in order, with the type and the extents above 1 of the whole tensor."""

import pathlib
import re
import sys

import tool

OP = re.compile(r"= (all_gather|reduce_scatter|all_reduce|all_to_all)\((\w+)\) .*? : (\w+)\[([^\]]*)\](.*)")


job = re.sub(r"attention .*\n.*ffn .*\n", f"{sys.argv[2]}  ffn none {{ }}\n",
             pathlib.Path(sys.argv[1]).read_text(encoding="utf-8"))
print(tool.figures("params", "-", input=job)["blocks", "layer", "published"], "parameters")
ir = tool.run("opt", "--sizes=values",
              input=tool.ir("-", "--level=spmd", "--verify-each", input=job))
block = ir[ir.index("\nblock layer {"):]
block = block[:block.index("\n}")]
is_backward = False
for kind, axes, element, dims, rest in OP.findall(block):
    if " backward" in rest and not is_backward:
        is_backward = True
        print("backward")
    extents = [dim.split(":")[1].split("@")[0] for dim in dims.split()]
    print(f"{kind}({axes}) {element} {'x'.join(e for e in extents if e != '1')}")
