# SPDX-License-Identifier: Apache-2.0
"""usage: serving_steps.py SEED COUNT

Compares random jobs that serve with closed forms of the rules by which engines compute, send and
keep: vLLM (layers/linear.py, layers/logits_processor.py, layers/vocab_parallel_embedding.py,
layers/fused_moe/layer.py; distributed/device_communicators/all2all.py,
AgRsAll2AllManager; v1/attention/backends/mla/common.py) and DeepEP (csrc/legacy/config.hpp).

A step has the rest of a prompt, or a token of each sequence of a replica. A token attends to
itself and to all before it, in a layer with a window to so many. With tp each row-parallel
projection and the table of words are followed by an all-reduce of the tokens, and logits of
last tokens are gathered. Without replicas experts work on all tokens of their rank, and
their sums are reduced with those of shared experts; else they get all tokens, or those for them.
"""
import collections

import chakra
import check_chakra
import tool


def same(found, expected, job):
    """Asserts that a figure of a job is what it should be."""
    assert found == expected, (found, expected, job)


def attended(tokens, past, window):
    """Returns the pairs of a query and a key of a sequence."""
    return sum(min(past + i, window or past + i) for i in range(1, tokens + 1))


def draw_attention(choose, tp):
    """Returns the text of attention, its parameters by token, the FLOPs of a pair, the bytes of a
    token in the cache, its window, and the FLOPs with which prefill expands a cached token."""
    if choose.random() < 0.4:
        heads, nope, rope, v = tp * choose.randint(1, 4), 16 * choose.randint(1, 4), 8 * choose.randint(1, 3), 8 * choose.randint(1, 6)
        q_lora, kv_lora = choose.choice([0, 24, 40]), 32 * choose.randint(1, 4)
        text = (f"mla {{ heads = {heads} q_lora = {q_lora} kv_lora = {kv_lora} rope_dim = {rope}"
                f" nope_dim = {nope} v_dim = {v} }}")
        width = heads * (nope + rope)

        def weights(hidden):
            return ((hidden * q_lora + q_lora * width if q_lora else hidden * width)
                    + hidden * (kv_lora + rope) + kv_lora * heads * (nope + v) + heads * v * hidden)

        def pair(is_decode):
            return 2 * heads * (2 * kv_lora + rope if is_decode else nope + rope + v)
        return text, weights, pair, 2 * (kv_lora + rope), 0, 2 * kv_lora * heads * (nope + v)
    kv = choose.choice([1, 2, tp, 2 * tp])
    kv = kv if kv % tp == 0 or tp % kv == 0 else tp
    heads, dim = max(kv, tp) * choose.randint(1, 3), 8 * choose.randint(2, 8)
    window = choose.choice([0, 0, choose.randint(1, 400)])
    text = f"gqa {{ heads = {heads} kv_heads = {kv} head_dim = {dim} window = {window} }}"
    held = max(kv, tp)  # each rank has a key head

    def weights(hidden):
        return hidden * dim * (2 * heads + 2 * held)
    return text, weights, lambda _: 4 * heads * dim, 2 * 2 * dim * held // tp, window, 0


def draw_network(choose, tp, ranks):
    """Returns the text of a network, the parameters that a token uses, top-k, and whether there are
    experts; shared ones are on each replica."""
    width = tp * 8 * choose.randint(1, 8)
    if ranks == 1 or choose.random() < 0.5 and tp == ranks:
        return f"ffn dense {{ intermediate = {width} activation = swiglu }}", lambda h: 3 * h * width, 0
    experts = ranks * choose.randint(1, 4)
    topk, shared = choose.randint(1, min(8, experts)), choose.choice([0, width])
    gate = shared > 0 and choose.random() < 0.5
    return (f"experts = {experts} topk = {topk} shared_intermediate = {shared} shared_gate = {tool.word(gate)} "
            f"ffn {{ intermediate = {width} activation = swiglu }}",
            lambda h: h * (experts + gate) + 3 * h * (topk * width + shared), topk)


def in_traces(case, ranks):
    """Returns the bytes of messages in the Chakra traces of a job, by kind."""
    tool.run("compile", case.job, "--emit=chakra", "--quiet", "-o", case.stem + "/")
    groups, traces = chakra.read_set(case.stem)
    assert len(traces) == ranks
    sums = collections.Counter()
    for node in (node for nodes in traces for node in nodes):
        if node.kind == "collective":
            name, _, size = check_chakra.collective(ranks, groups, node)
            sums[name] += size
        elif node.kind == "send":
            sums["send"] += node.attributes["comm_size"]
    return sums


def check(case):
    choose = case.draw
    tp, dp = choose.choice([(1, 1), (2, 1), (4, 1), (1, 2), (1, 4), (2, 2)])
    pp = choose.choice([1, 1, 2])
    vocab = 512 * choose.randint(1, 9)
    attention, of_attention, pair, kept, window, expansion = draw_attention(choose, tp)
    network, of_network, topk = draw_network(choose, tp, tp * dp)
    layers = pp * choose.randint(1, 3)
    request, made = choose.randint(2, 900), choose.randint(1, 300)
    prefix, running = choose.randint(0, request - 1), dp * choose.randint(1, 70)
    is_decode = choose.random() < 0.6
    exchange = choose.choice(["allgather", "deepep_low_latency"]) if topk and dp > 1 else "allgather"
    # DeepEP has kernels for some widths and numbers of tokens.
    hidden = choose.choice([2048, 2560]) if "_" in exchange else 128 * choose.randint(1, 6)
    running = min(running, 128 * dp) if "_" in exchange else running
    prefix = max(prefix, request - 128) if "_" in exchange else prefix
    is_ep = topk and ("_" in exchange or choose.random() < 0.5)
    text = f"""model m {{ vocab = {vocab} hidden = {hidden} norm = rmsnorm
  block b {{ attention {attention} {network} }}
  layers = {layers} * b }}
requests {{ input = {request} output = {made} concurrency = {running} prefix = {prefix} }}
serve {'' if is_decode else 'prefill '}{{ engine = vllm max_sequences = {128 if '_' in exchange else 512} exchange = {exchange} }}
parallel {{ world = {tp * dp * pp} tp = {tp} pp = {pp}
  {f'ep = {choose.choice([2, tp]) if tp > 1 and dp == 1 else tp * dp}' if is_ep else ''} }}
"""
    case.write(text)
    tokens, sequences = (1, running // dp) if is_decode else (request - prefix, 1)
    past = request + made // 2 - 1 if is_decode else prefix
    own = tokens * sequences
    flops = dp * (2 * own * layers * (of_attention(hidden) + of_network(hidden))
                  + layers * pair(is_decode) * sequences * attended(tokens, past, window)
                  + (0 if is_decode else layers * past * expansion)
                  + 2 * sequences * vocab * hidden)
    same(tool.figures("flops", case.job)["", "", "forward_flops"], flops, text)

    volume = {}
    ranks, stream = tp * dp, 2 * own * hidden

    def send(group, collective, message):
        if message:
            name = f"{group} {collective} " + ("pipeline" if group == "pp" else "forward")
            volume[name] = volume.get(name, 0) + message * ranks
    # Ranks of a replica have its tokens, and send each a part of them to experts.
    part = -(-own // tp)
    is_sent, of_experts = topk and dp > 1, "ep" if is_ep else "etp"
    if tp > 1:
        networks = layers * (not is_sent or "shared_intermediate = 0" not in network)
        send("tp", "all_reduce", stream * (1 + layers + networks))
        send("tp", "all_gather", 2 * sequences * vocab + (layers * stream if is_sent else 0))
    if is_sent and exchange == "allgather":
        send(of_experts, "all_gather", layers * dp * tp * part * (2 * hidden + 8 * topk))
        send(of_experts, "reduce_scatter", layers * dp * tp * part * 2 * hidden)
    if is_sent and exchange != "allgather":
        scales = 4 * -(-hidden // 128)
        slots = -(-own * topk // tp)
        send("ep", "all_to_all", layers * slots * (hidden + scales + 16 + 2 * hidden))
    send("pp", "send", (pp - 1) * stream)
    found = {row: value for (table, row, figure), value in tool.figures("volume", case.job).items()
             if table == "collectives" and figure == "message"}
    same(found, volume, text)

    by_kind = collections.Counter()
    for name, message in volume.items():
        by_kind[name.split()[1]] += message
    if ranks * pp > 1:
        same(in_traces(case, ranks * pp), by_kind, text)

    stages = [(figure, value) for (table, _, figure), value in tool.figures("memory", case.job).items()
              if table == "stages" and figure.startswith("cache_")]
    column = "cache_limited" if window else "cache_token"
    same(sum(v for f, v in stages if f == column), layers * kept, text)


tool.cases(check)
