# SPDX-License-Identifier: Apache-2.0
"""Memory of the four models of Korthikanti et al., arXiv 2205.05198: figure 1, whose
values are closed forms, to the last bit, and figure 7."""

import re

import tool

TP = 8
# model, h, heads, layers, pp, chunks, micro-batch, batch, GPUs; GiB of parameters
# and optimizer, of activations, and of those with sequence parallelism and selective
# recomputation
FIGURE_1 = [
    ("22B", 6144, 64, 48, 1, 1, 4, 4, 8, 45.5625, 59.25, 9.5625),
    ("175B", 12288, 96, 96, 8, 3, 1, 64, 64, 45.5625, 66.84375, 12.3515625),
    ("530B", 20480, 128, 105, 35, 3, 1, 280, 280, 31.640625, 114.0234375,
     23.076171875),
    ("1T", 25600, 160, 128, 64, 1, 1, 512, 512, 32.958984375, 131.25, 26.5625),
]
# Of what is kept without either: with sequence parallelism, with selective
# recomputation, with both, with full recomputation
FIGURE_7 = {"22B": (66.84, 49.42, 16.18, 7.64),
            "175B": (62.04, 56.53, 18.49, 8.71),
            "530B": (58.31, 62.04, 20.27, 9.42),
            "1T": (58.31, 62.04, 20.27, 9.42)}
TOLERANCE = 0.15
MODES = {"none": (False, "none"), "sequence": (True, "none"),
         "selective": (False, "selective"), "both": (True, "selective"),
         "full": (False, "full")}
BYTES = 18  # of a parameter: 2, its gradient in fp32 and Adam's state


def job(h, heads, layers, pp, chunks, micro_batch, batch, gpus, mode):
    sequence_parallel, recompute = MODES[mode]
    return f"""model m {{
  vocab = 51200  hidden = {h}  norm = layernorm  positions = learned
  tied = true  bias = true
  attention mha {{ heads = {heads} }}
  ffn {{ intermediate = {4 * h}  activation = gelu }}
  layers = {layers}
}}
train {{
  sequence = 2048  micro_batch = {micro_batch}  global_batch = {batch}
  precision = fp16  grad_precision = fp32  dropout = true
  attention_backend = unfused  recompute = {recompute}
}}
parallel {{
  world = {gpus}  tp = {TP}  pp = {pp}  vpp = {chunks}
  sequence_parallel = {tool.word(sequence_parallel)}
}}
"""


def layer(text):
    """(what it keeps, elements of its matrices) on one rank."""
    ir = tool.run("opt", "--sizes=values", input=tool.ir("-", input=text))
    block = ir[ir.index("\nblock layer {"):]
    block = block[:block.index("\n}")]
    matrices = re.findall(r"param .*\[\w+:(\d+)(?:@tp)? \w+:(\d+)(?:@tp)?\]",
                          block)
    assert len(matrices) == 4, matrices
    elements = sum(int(rows) * int(columns) // TP for rows, columns in matrices)
    return int(re.search(r"total kept = (\d+)", block)[1]), elements


for model, *shape, state, whole, both in FIGURE_1:
    layers, pp, chunks = shape[2:5]
    kept = {}
    for mode in MODES:
        kept[mode], elements = layer(job(*shape, mode))
    # Micro-batches of all chunks that the first stage has at most.
    first = tool.document("memory", "-", input=job(*shape, mode))["stages"][0]
    each = layers // (pp * chunks) * first["micro_batches"]
    found = (layers // pp * elements * BYTES, kept["none"] * each,
             kept["both"] * each)
    expected = tuple(n * 2**30 for n in (state, whole, both))
    assert found == expected, (model, found, expected)
    for mode, printed in zip(list(MODES)[1:], FIGURE_7[model]):
        share = 100 * kept[mode] / kept["none"]
        assert abs(share - printed) <= TOLERANCE, (model, mode, share, printed)
print(f"{3 * len(FIGURE_1)} values of figure 1, {sum(map(len, FIGURE_7.values()))} of figure 7")
