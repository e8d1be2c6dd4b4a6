# SPDX-License-Identifier: Apache-2.0
"""What layers of `--transformer-impl local` save on a CPU besides what a plan has.

A plan has the kernels of GPUs. RULES has the other tensors of dense layers in closed form,
with the function that saves them: of torch, or of a file below megatron/core.
"""

import typing

# Words of jobs without rules.
UNRULED = {"--num-experts", "--multi-latent-attention", "--mtp-num-layers",
           "--context-parallel-size", "--use-megatron-fsdp", "--attention-output-gate",
           "layernorm"}


class Chunk:
    """Sizes of a chunk of the model on a rank: of its arguments, and `layers`, the number
    of layers of each block with the block's recomputation."""

    def __init__(self, layout, stage, layers):
        self.words = layout["arguments"].split()
        self.release = int(layout["version"].split(".")[1])
        self.tp = self.number("--tensor-model-parallel-size", 1)
        last = self.number("--pipeline-model-parallel-size", 1) - 1
        names = [name for _, name, _ in layers]
        self.has_embedding, self.has_loss = "embedding" in names, "head" in names
        # The mask is data of the first and the last chunk; in core 0.13 of all chunks of
        # their stages (pretrain_gpt.py, get_batch).
        self.has_mask = self.has_embedding or self.has_loss or \
            self.release == 13 and stage in (0, last)
        count = {is_full: sum(number for number, name, recompute in layers
                              if name not in ("embedding", "head")
                              and (recompute == "full") == is_full)
                 for is_full in (False, True)}
        self.plain, self.recomputed = count[False], count[True]
        self.modules = self.recomputed_modules()
        self.unfused = 0 if "core_attn" in self.modules else self.plain
        self.set_sizes()

    def set_sizes(self):
        heads, hidden = self.number("--num-attention-heads"), self.number("--hidden-size")
        groups = self.number("--num-query-groups", heads) \
            if "--group-query-attention" in self.words else heads
        self.element = 2 if {"--bf16", "--fp16"} & set(self.words) else 4
        self.sequence = self.number("--seq-length")
        self.batch = self.number("--micro-batch-size")
        self.tokens = self.sequence * self.batch
        # Tokens of a rank between layers.
        self.own = self.tokens // (self.tp if "--sequence-parallel" in self.words else 1)
        self.hidden = hidden
        self.head = self.number("--kv-channels", hidden // heads)
        self.heads, self.groups = heads // self.tp, groups // self.tp
        self.ffn = self.number("--ffn-hidden-size") // self.tp

    def number(self, option, default=None):
        return int(self.value(option, default))

    def value(self, option, default=None):
        return self.words[self.words.index(option) + 1] if option in self.words else default

    def recomputed_modules(self):
        if self.value("--recompute-granularity") != "selective":
            return []
        if "--recompute-modules" not in self.words:
            return ["core_attn"]
        after = self.words[self.words.index("--recompute-modules") + 1:]
        end = [at for at, word in enumerate(after) if word.startswith("--")]
        return after[:end[0] if end else None]


def norm(chunk, tokens, width, is_input_saved):
    """What a norm saves besides its input in the type of activations."""
    if "RMSNorm" not in chunk.words:
        return 2 * chunk.element * tokens
    size = tokens * width
    wide = 4 * size if chunk.element < 4 else 0
    unsaved = chunk.element * size if wide and not is_input_saved else 0
    return 4 * tokens + chunk.element * size + wide - unsaved


def norms_of_heads(chunk):
    # Values are a part of the same tensor as the inputs, which is saved for them.
    heads = chunk.tokens * (chunk.heads + chunk.groups)
    return "--qk-layernorm" in chunk.words and \
        chunk.plain * norm(chunk, heads, chunk.head, True)


def rotations(chunk):
    if "rope" not in chunk.words:
        return 0
    width = int(chunk.head * float(chunk.value("--rotary-percent", 1)))
    return 4 * chunk.plain * chunk.sequence * width * chunk.element + \
        (chunk.recomputed > 0) * chunk.sequence * width * 4


def projection(chunk):
    if "--qk-layernorm" in chunk.words:
        return 0
    others = 0
    copies = chunk.heads > chunk.groups and "core_attn" not in chunk.modules
    if "rope" in chunk.words and not copies:
        others = chunk.heads + chunk.groups  # queries and keys before their rotation
    elif "rope" not in chunk.words and copies and chunk.groups == chunk.batch == 1:
        others = 2 * chunk.groups  # queries are not copied
    return chunk.plain * chunk.tokens * others * chunk.head * chunk.element


def mask(chunk):
    attends = chunk.plain + chunk.recomputed > 0
    if chunk.has_mask and attends:
        # The plan has it in the embedding and the head of a job that recomputes attention.
        is_planned = (chunk.recomputed or "core_attn" in chunk.modules) and (
            chunk.has_embedding or chunk.has_loss)
        return not is_planned and chunk.batch * chunk.sequence ** 2
    # Up to core 0.15, layers share a mask that they make.
    return (min(chunk.unfused, 1) if chunk.release < 16 else chunk.unfused) * \
        chunk.sequence ** 2


def activation(chunk):
    # Since core 0.15, an offset is added to the other half.
    is_saved = "--swiglu" in chunk.words and "mlp" not in chunk.modules
    return is_saved and chunk.plain * (2 if chunk.release >= 15 else 1) * \
        chunk.tokens * chunk.ffn * chunk.element


def layer_inputs(chunk):
    """Bytes of inputs that are not saved, negative."""
    if not chunk.recomputed:
        return 0
    units = chunk.recomputed
    if chunk.value("--recompute-method") == "uniform":
        units = -(-units // chunk.number("--recompute-num-layers", 1))
    size = chunk.own * chunk.hidden * chunk.element
    if "--distribute-saved-activations" in chunk.words:
        size //= chunk.tp
    return (units - chunk.recomputed) * size


class Rule(typing.NamedTuple):
    name: str
    source: str
    size: typing.Callable[[Chunk], int]


RULES = (
    Rule("norms", "torch: layer_norm_cpu has the mean and the deviation; rms_norm, which is "
         "composed, has the input in fp32, 1 / rms, and the product of both",
         lambda chunk: (2 * chunk.plain + chunk.has_loss) * norm(
             chunk, chunk.own, chunk.hidden, False)),
    Rule("norms of queries and keys", "the same", norms_of_heads),
    Rule("cosines and sines", "models/common/embeddings/rope_utils.py, "
         "_apply_rotary_pos_emb_bshd; of recomputed layers the angles in fp32, "
         "tensor_parallel/random.py, CheckpointFunction.forward", rotations),
    Rule("projection of queries, keys and values", "transformer/attention.py, "
         "SelfAttention.get_query_key_value_tensors: values are a part of it, or queries",
         projection),
    Rule("attention mask", "fusions/fused_softmax.py, "
         "FusedScaleMaskSoftmax.forward_torch_softmax; transformer/utils.py, "
         "get_default_causal_mask", mask),
    Rule("kind of the mask", "transformer/attention.py, _checkpointed_attention_forward",
         lambda chunk: 4 * (chunk.plain - chunk.unfused)),
    Rule("SiLU", "transformer/mlp.py, MLP.forward: glu", activation),
    Rule("inputs of recomputed layers", "transformer/transformer_block.py, "
         "_checkpointed_forward: uniform. `import` warns of it", layer_inputs),
    Rule("words of other ranks", "tensor_parallel/layers.py, VocabParallelEmbedding.forward",
         lambda chunk: chunk.has_embedding and chunk.tp > 1 and chunk.tokens),
    Rule("words of the loss", "tensor_parallel/cross_entropy.py, "
         "_VocabParallelCrossEntropy.forward: target_mask, masked_target_1d",
         lambda chunk: chunk.has_loss and 9 * chunk.tokens),
    Rule("mask of the loss", "pretrain_gpt.py, loss_func; pipeline_parallel/schedules.py, "
         "forward_step: num_tokens", lambda chunk: chunk.has_loss and 4 * chunk.tokens + 4 * (
             "--calculate-per-token-loss" not in chunk.words)))


def has_rules(layout):
    words = layout["arguments"].split()
    return UNRULED.isdisjoint(words) and all(
        f"--{kind}-dropout 0" in layout["arguments"] for kind in ("attention", "hidden"))


def saved(layout, stage, layers):
    """Bytes of a chunk by rule."""
    chunk = Chunk(layout, stage, layers)
    return {rule.name: int(rule.size(chunk)) for rule in RULES}
