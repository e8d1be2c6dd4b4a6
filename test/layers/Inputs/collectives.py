#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: collectives.py JOB ATTENTION

Prints the parameters of a layer that has the attention and no network, and its collectives
over tp, in order, with the type and the extents above 1 of the whole tensor."""

import pathlib
import re
import subprocess
import sys

OP = re.compile(r"= (all_gather|reduce_scatter|all_reduce|all_to_all)\((\w+)\) .*? : (\w+)\[([^\]]*)\](.*)")


def main():
    text = pathlib.Path(sys.argv[1]).read_text(encoding="utf-8")
    text = re.sub(r"attention .*\n.*ffn .*\n", f"{sys.argv[2]}  ffn none {{ }}\n", text)
    job = pathlib.Path("collectives.fore")
    job.write_text(text, encoding="utf-8")
    counted = subprocess.check_output(["foretrace", "params", job, "--format=csv"], text=True)
    print(re.search(r"blocks,layer,published,count,(\d+)", counted)[1], "parameters")
    ir = subprocess.check_output(["foretrace", "compile", job, "--emit=ir", "--level=spmd",
                                  "--verify-each", "--stdout", "--quiet"])
    ir = subprocess.check_output(["foretrace", "opt", "--sizes=values"], input=ir).decode()
    block = ir[ir.index("\nblock layer {"):]
    block = block[:block.index("\n}")]
    is_backward = False
    for kind, axes, element, dims, rest in OP.findall(block):
        if " backward" in rest and not is_backward:
            is_backward = True
            print("backward")
        extents = [dim.split(":")[1].split("@")[0] for dim in dims.split()]
        print(f"{kind}({axes}) {element} {'x'.join(e for e in extents if e != '1')}")


if __name__ == "__main__":
    main()
