# SPDX-License-Identifier: Apache-2.0
"""The configurations that NVIDIA published performance of with Megatron-Bridge
(releases 25.09, 25.11 and 26.02): each is legal, holds every layer once, and
runs global / (micro x dp) micro-batches."""

import math
import re

import tool

# model, GPUs, global and micro-batch, sequence, tp, pp, cp, vpp, ep
CONFIGURATIONS = [
    ("llama3-70b", 64, 256, 1, 8192, 1, 4, 1, 5, 1),
    ("llama3-70b", 64, 256, 1, 8192, 2, 4, 1, 5, 1),
    ("llama3-70b", 64, 256, 1, 8192, 1, 4, 1, 5, 1),
    ("llama3-70b", 64, 256, 1, 8192, 2, 4, 1, 5, 1),
    ("llama3-70b", 64, 256, 2, 8192, 1, 1, 1, 1, 1),
    ("llama3-70b", 64, 256, 1, 8192, 4, 8, 1, 5, 1),
    ("llama3.1-405b", 256, 1536, 1, 8192, 4, 8, 1, 4, 1),
    ("llama3.1-405b", 256, 1536, 1, 8192, 4, 16, 1, 8, 1),
    ("llama3.1-405b", 256, 1536, 1, 8192, 2, 8, 2, 4, 1),
    ("llama3.1-405b", 256, 1536, 1, 8192, 4, 16, 1, 8, 1),
    ("llama3.1-405b", 256, 1536, 1, 8192, 4, 8, 1, 4, 1),
    ("llama3.1-405b", 256, 1536, 1, 8192, 4, 16, 1, 4, 1),
    ("llama3.1-405b", 1024, 1536, 1, 8192, 8, 8, 2, 8, 1),
    ("deepseek-v3", 256, 4096, 2, 4096, 1, 2, 1, 8, 32),
    ("deepseek-v3", 256, 4096, 1, 4096, 1, 4, 1, 4, 64),
    ("deepseek-v3", 256, 4096, 1, 4096, 1, 16, 1, 1, 8),
    ("deepseek-v3", 256, 4096, 1, 4096, 1, 16, 1, 1, 8),
    ("qwen3-30b-a3b", 8, 512, 8, 4096, 1, 1, 1, 1, 8),
    ("qwen3-30b-a3b", 16, 1024, 1, 4096, 1, 2, 1, 12, 8),
    ("qwen3-235b-a22b", 256, 8192, 2, 4096, 1, 4, 1, 1, 32),
    ("qwen3-235b-a22b", 256, 8192, 1, 4096, 1, 8, 1, 1, 32),
    ("qwen3-235b-a22b", 256, 8192, 1, 4096, 1, 8, 1, 4, 8),
    ("qwen3-235b-a22b", 256, 8192, 1, 4096, 2, 8, 1, 4, 32),
    ("llama3-8b", 8, 128, 2, 8192, 1, 1, 1, 1, 1),
    ("llama3-8b", 8, 128, 2, 8192, 1, 1, 1, 1, 1),
    ("llama3-8b", 8, 128, 2, 8192, 1, 1, 1, 1, 1),
    ("llama3-8b", 8, 128, 1, 8192, 1, 1, 1, 1, 1),
    ("llama3-70b", 64, 128, 1, 8192, 4, 8, 1, 5, 1),
    ("llama3.1-405b", 256, 1536, 1, 8192, 2, 8, 2, 4, 1),
    ("llama3.1-405b", 256, 1536, 1, 8192, 4, 16, 1, 4, 1),
    ("llama3.1-405b", 128, 64, 1, 8192, 4, 8, 2, 8, 1),
    ("llama3.1-405b", 1024, 512, 1, 8192, 8, 8, 2, 8, 1),
    ("deepseek-v3", 256, 4096, 1, 4096, 1, 2, 1, 4, 32),
    ("deepseek-v3", 256, 4096, 1, 4096, 1, 2, 1, 4, 32),
    ("deepseek-v3", 256, 4096, 1, 4096, 1, 4, 1, 4, 64),
    ("deepseek-v3", 256, 4096, 1, 4096, 1, 8, 1, 4, 32),
    ("deepseek-v3", 256, 2048, 1, 4096, 1, 16, 1, 1, 8),
    ("qwen3-30b-a3b", 8, 512, 4, 4096, 1, 1, 1, 1, 8),
    ("qwen3-30b-a3b", 8, 512, 4, 4096, 1, 1, 1, 1, 8),
    ("qwen3-30b-a3b", 16, 512, 2, 4096, 1, 2, 1, 24, 8),
    ("qwen3-235b-a22b", 256, 8192, 2, 4096, 1, 4, 1, 12, 16),
    ("qwen3-235b-a22b", 256, 8192, 1, 4096, 1, 8, 1, 3, 32),
    ("qwen3-235b-a22b", 64, 1024, 1, 4096, 1, 8, 1, 2, 8),
    ("qwen3-235b-a22b", 256, 2048, 1, 4096, 2, 8, 1, 4, 32),
    ("deepseek-v3", 1024, 8192, 1, 4096, 2, 8, 1, 4, 64),
]
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


def job(model, gpus, batch, micro, sequence, tp, pp, cp, vpp, ep):
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
        times = math.prod(last - first + 1
                          for first, last in (chunk["stages"], chunk["chunks"]))
        blocks = [block for block in chunk["layers"].split(" + ")
                  if block not in ("embedding", "head", "nothing")]
        count += times * sum(int(block.split()[0]) if " " in block else 1
                             for block in blocks)
    return count


def main():
    for configuration in CONFIGURATIONS:
        model, gpus, batch, micro, _, tp, pp, cp, _, _ = configuration
        text = job(*configuration)
        steps = int(re.search(r"\bga = (\d+)", tool.ir("-", "--level=spec", input=text))[1])
        assert steps == batch // (micro * gpus // (tp * pp * cp)), configuration
        assert layers_of(tool.document("plan", "-", input=text)) == LAYERS[model], configuration
    print(len(CONFIGURATIONS), "configurations")


if __name__ == "__main__":
    main()
