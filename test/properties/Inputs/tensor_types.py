# SPDX-License-Identifier: Apache-2.0
"""usage: tensor_types.py SEED COUNT

Compares what types of tensors change in random jobs (saved activations, weights,
messages) with closed forms of Transformer Engine's linear layers.

With sequence parallelism `_LayerNormLinear.forward` gathers the quantized input, and its
backward gathers it again for the gradient of the weight; `_Linear.backward` gathers the
quantized gradient of its output (pytorch/module/layernorm_linear.py, linear.py), by rows and by
columns if blocks have scales (distributed.py, _start_all_gather_fp8_blockwise). Each
linear layer saves its quantized input in place of the bf16 one, but for the projection
after attention and the first one of shared experts: attention and the router save their
inputs in bf16 (Megatron-LM, attention.py and shared_experts.py,
set_save_original_input). Tokens of experts are exchanged four times, those of results of
experts in bf16 (arXiv 2412.19437, section 3.3.2).
"""
import tool

# bits of an element, elements of an activation and of a weight per scale, bytes of a scale
TYPES = {"bf16": (16, 0, 0, 0), "fp8": (8, 0, 0, 0), "fp8_block": (8, 128, 128 * 128, 4),
         "mxfp8": (8, 32, 32, 1), "mxfp4": (4, 32, 32, 1), "nvfp4": (4, 16, 16, 1)}
SCALED = list(TYPES)[1:]


def size(elements, of, is_weight=False):
    bits, block, weight_block, scale = TYPES[of]
    block = weight_block if is_weight else block
    return -(-elements * bits // 8) + (-(-elements // block) * scale if block else 0)


def messages(rows, of, group):
    return sum(row["messages"] for row in rows
               if row["group"] == group and of.items() <= row.items())


def compare(text, keys, expected):
    before, after = (tool.plan("-", input=text % of) for of in ("", keys))
    layer = [p["blocks"][1] for p in (before, after)]
    found = {"saved": layer[1]["kept"] - layer[0]["kept"],
             "weights": layer[1]["weights"] - layer[0]["weights"]}
    for group in ("tp", "ep"):
        of = {"block": layer[0]["block"]}
        found[group] = (messages(after["block_messages"], of, group)
                        - messages(before["block_messages"], of, group))
    of = {"stages": before["stages"][0]["stages"]}
    found["dp"] = (messages(after["messages"], of, "dp")
                   - messages(before["messages"], of, "dp"))
    for key, value in expected.items():
        assert found[key] == value, f"{key}: {found[key]}, expected {value}\n{text % keys}"


def dense(choose):
    """A dense layer with tp and sequence parallelism, ZeRO 1 over two replicas."""
    of, stored = choose.choice(SCALED), choose.random() < 0.5
    tp, heads, groups = choose.choice([2, 4]), 16, choose.choice([4, 8, 16])
    hidden, ffn = 512 * choose.randint(1, 4), 512 * choose.randint(1, 9)
    seq, batch, copies = 256 * choose.randint(1, 4), choose.randint(1, 3), choose.randint(0, 3)
    local, tokens = seq * batch * hidden // tp, seq * batch
    context = tokens * hidden // tp
    qkv = hidden * (hidden + 2 * hidden // heads * groups) // tp
    weights = [qkv, hidden * hidden // tp, 2 * hidden * ffn // tp, hidden * ffn // tp]
    text = f"""model m {{ vocab = 512  hidden = {hidden}  norm = rmsnorm
  attention gqa {{ heads = {heads}  kv_heads = {groups} }}
  ffn {{ intermediate = {ffn}  activation = swiglu }}
  layers = 1 }}
train {{ sequence = {seq}  micro_batch = {batch}  %s }}
parallel {{ world = {2 * tp}  tp = {tp}  sequence_parallel = true  zero = 1 }}
"""
    keys = f"compute_precision = {of}  compute_copies = {copies}"
    gathered = 0
    if stored:
        keys += f"  weight_precision = {of}"
        # Shares of two replicas.
        gathered = 2 * size(sum(weights) // 2, of, True) - 2 * sum(weights)
    own = sum(size(w, of, True) for w in weights)
    compare(text, keys, {
        "saved": 2 * (size(local, of) - 2 * local)
        + size(tokens * ffn // tp, of) - 2 * (tokens * ffn // tp),
        "weights": own * max(copies, 1) - 2 * sum(weights) if stored else own * copies,
        # Two inputs, twice each, and two gradients, which are two tensors with scales of blocks.
        "tp": (6 + 2 * (TYPES[of][1] > 0)) * tp * size(local, of) - 6 * 2 * local * tp,
        "dp": gathered})


def experts(choose):
    """Experts over all ranks."""
    of, sent = choose.choice(["bf16", *SCALED]), choose.choice(["bf16", *SCALED])
    back = choose.choice(["bf16", *SCALED])
    ranks, topk, heads = choose.choice([2, 4]), choose.randint(1, 4), 8
    shared = choose.choice([0, 128, 640])
    hidden, ffn, seq = 256 * choose.randint(1, 4), 128 * choose.randint(1, 9), 128 * choose.randint(1, 4)
    text = f"""model m {{ vocab = 512  hidden = {hidden}  norm = rmsnorm
  attention mha {{ heads = {heads} }}
  block e {{ experts = 8  topk = {topk}  shared_intermediate = {shared}  ffn {{ intermediate = {ffn}  activation = swiglu }} }}
  layers = 1 * e }}
train {{ sequence = {seq}  micro_batch = 1  %s }}
parallel {{ world = {ranks}  ep = {ranks} }}
"""
    tokens, slots = seq * hidden, seq * topk * hidden
    hot, hot_shared = seq * topk * ffn, seq * shared
    weights = [3 * hidden * hidden, hidden * hidden, 2 * shared * hidden, shared * hidden,
               *[8 // ranks * width * hidden for width in (2 * ffn, ffn)]]
    # What experts read is in the type of products, whatever came.
    compare(text, f"compute_precision = {of}  dispatch_precision = {sent}  combine_precision = {back}", {
        "saved": size(tokens, of) - 2 * tokens + size(slots, of) - 2 * slots
        + size(hot, of) - 2 * hot + size(hot_shared, of) - 2 * hot_shared,
        "weights": 2 * sum(size(w, of, True) for w in weights) if of != "bf16" else 0,
        "ep": 2 * (size(slots, sent) + size(slots, back) - 4 * slots)})


def check(case):
    (dense, experts)[case.number % 2](case.draw)


tool.cases(check)
