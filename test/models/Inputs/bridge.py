# SPDX-License-Identifier: Apache-2.0
"""The configurations that NVIDIA published performance of with Megatron-Bridge
(releases 25.09, 25.11 and 26.02): each is legal, holds every layer once, and
runs global / (micro x dp) micro-batches."""

import re

import tool

# With tokens and TFLOP of a second and GPU where these are published.
CONFIGURATIONS = tool.published(__file__, "bridge.csv")
LAYERS = {"llama3-8b": 32, "llama3-70b": 80, "llama3.1-405b": 126,
          "deepseek-v3": 61, "qwen3-30b-a3b": 48, "qwen3-235b-a22b": 94}


def split(layers, chunks):
    """How the layers are split: evenly, with the embedding and the loss as a
    layer each, or, for DeepSeek-V3, with a layer's room for the second loss,
    too."""
    if layers % chunks == 0:
        return ""
    if (layers + 2) % chunks == 0:
        return "embedding_as_layer = true  loss_as_layer = true"
    share = (layers + 3) // chunks
    return "layout = [%d] + %d * [%d] + [%d]" % (
        share - 1, chunks - 2, share, share - 2)


def job(model, sequence, micro, batch, gpus, tp, pp, cp, vpp, ep, **_):
    """The job of a configuration."""
    experts = "ep = %d etp = 1" % ep if "-a" in model or "deep" in model else ""
    return '''import "models/%s.fore"
train { sequence = %d  micro_batch = %d  global_batch = %d }
parallel {
  world = %d  tp = %d  pp = %d  cp = %d  vpp = %d  %s
  %s
  %s
}
''' % (model, sequence, micro, batch, gpus, tp, pp, cp, vpp, experts,
       "sequence_parallel = true" if tp > 1 else "",
       split(LAYERS[model], pp * vpp))


def layers_of(plan):
    """Layers of all chunks."""
    count = 0
    for chunk in plan["chunks"]:
        times = len(tool.each(chunk["stages"])) * len(tool.each(chunk["chunks"]))
        blocks = [block for block in chunk["layers"].split(" + ")
                  if block not in ("embedding", "head", "nothing")]
        count += times * sum(int(block.split()[0]) if " " in block else 1
                             for block in blocks)
    return count


def main():
    for of in CONFIGURATIONS:
        text = job(**of)
        steps = int(re.search(r"\bga = (\d+)", tool.ir("-", "--level=spec", input=text))[1])
        dp = of["gpus"] // (of["tp"] * of["pp"] * of["cp"])
        assert steps == of["batch"] // (of["micro"] * dp), of
        assert layers_of(tool.document("plan", "-", input=text)) == LAYERS[of["model"]], of
    print(len(CONFIGURATIONS), "configurations")


if __name__ == "__main__":
    main()
