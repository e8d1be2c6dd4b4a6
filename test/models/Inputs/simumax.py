# SPDX-License-Identifier: Apache-2.0
"""Peaks of torch.cuda.max_memory_allocated, in GiB, that SimuMax publishes of runs
of Megatron-LM on eight B200 (docs/b200, release 1.2): bf16, ZeRO 1, truncated
models, Transformer Engine's fused cross entropy, gradients of weights added in
place, context parallelism by all-to-alls. No slack is added."""

import tool

MOST = 1.4  # per cent
MODELS = {
    "70b": 'import "models/llama3-70b.fore"\n'
           "model m : llama3_70b { layers = 12 }\n",
    "405b": 'import "models/llama3.1-405b.fore"\n'
            "model m : llama3_1_405b { layers = 4 "
            "attention gqa { heads = 128 kv_heads = 16 } }\n",
    "v2": 'import "models/deepseek-v2.fore"\n'
          "model m : deepseek_v2 { layers = 1 * dense + 3 * moe }\n",
    "v3": 'import "models/deepseek-v3.fore"\n'
          "model m : deepseek_v3 { layers = 1 * dense + 3 * moe }\n",
}
RUNS = [tuple(row.values()) for row in tool.published(__file__, "simumax.csv")]


def peak(run):
    model, sequence, tp, pp, cp, ep, _ = run
    extra = "sequence_parallel = true " if tp > 1 else ""
    extra += "cp_comm = a2a " if cp > 1 else ""
    job = (f"{MODELS[model]}"
           f"train {{ sequence = {sequence} micro_batch = 1 fused_loss = te\n"
           "  fused_wgrad = true }\n"
           f"parallel {{ world = 8 tp = {tp} pp = {pp} cp = {cp} ep = {ep}\n"
           f"  zero = 1 ga = 8 {extra}}}\n")
    return tool.document("memory", "-", input=job)["peak"] / 2**30


near = 0
for run in RUNS:
    got = peak(run)
    off = 100 * (got / run[-1] - 1)
    near += abs(off) <= MOST
    print(*run[:-1], f"{got:.2f} of {run[-1]} GiB, {off:+.2f} %")
print(f"{near} of {len(RUNS)} within {MOST} %")
