# SPDX-License-Identifier: Apache-2.0
"""The job of a traced run of Megatron-LM: its arguments, imported."""
import os

import tool

TYPES = {"float32": [], "float16": ["--fp16"], "bfloat16": ["--bf16"]}


def words_of(c):
    """The command line of the run that `c` describes."""
    words = ["torchrun", "--nnodes", 1, "--nproc-per-node", c["world"], "pretrain_gpt.py",
             "--num-layers", c["layers"], "--hidden-size", c["hidden"],
             "--ffn-hidden-size", c["ffn"], "--num-attention-heads", c["heads"],
             "--group-query-attention", "--num-query-groups", c["kv_groups"],
             "--seq-length", c["seq"], "--max-position-embeddings", c["max_pos"],
             "--normalization", c["norm"],
             "--position-embedding-type",
             "learned_absolute" if c["pos"] == "learned" else c["pos"],
             "--micro-batch-size", c["mbs"],
             "--global-batch-size", c["mbs"] * c["ga"] * c["dp"],
             "--tensor-model-parallel-size", c["tp"],
             "--pipeline-model-parallel-size", c["pp"],
             "--tokenizer-type", "NullTokenizer",
             "--vocab-size", c.get("vocab", c["vocab_padded"]),
             "--make-vocab-size-divisible-by", 128 if "vocab" in c else 1,
             *TYPES[c["dtype"]]]
    if c["gated"]:
        words.append("--swiglu")
    if not c["tied"]:
        words.append("--untie-embeddings-and-output-weights")
    if not c["bias"]:
        words.append("--disable-bias-linear")
    if c.get("num_experts"):
        words += ["--num-experts", c["num_experts"], "--moe-router-topk", c["topk"],
                  "--expert-model-parallel-size", c["ep"], "--moe-aux-loss-coeff", 0.01,
                  "--moe-token-dispatcher-type", c.get("dispatcher", "alltoall")]
    if c.get("vpp", 1) > 1:
        words += ["--num-virtual-stages-per-pipeline-rank", c["vpp"]]
    if c.get("sequence_parallel"):
        words.append("--sequence-parallel")
    if c.get("distributed_optimizer"):
        words.append("--use-distributed-optimizer")
    if c.get("recompute", "none") != "none":
        words += ["--recompute-granularity", c["recompute"]]
    if c["dtype"] == "float16" and c["grad_dtype"] == "float32":
        words.append("--accumulate-allreduce-grads-in-fp32")
    if c["dtype"] == "bfloat16" and c["grad_dtype"] == "bfloat16":
        words.append("--grad-reduce-in-bf16")
    return words


def dialect_of(c):
    """Scaling runs say only of experts which revision they are."""
    if c.get("scaling") and c["dialect"] == "v2":
        return "v2" if c.get("num_experts") and not c["split"] else "v2b"
    return c["dialect"]


def write(c, ranks, folder):
    """Writes `job.fore` to `folder`, with the traces of some ranks as output, and returns its
    path; raises tool.Failed with the messages of an import that fails."""
    scaling = c.get("scaling", False)
    if scaling:
        # Scaling runs give a stage whole layers, print float16 for gradients whatever their
        # type, and pad the vocabulary for one rank.
        c = dict(c, layers=c["layers"] // c["pp"] * c["pp"])
    script, job = os.path.join(folder, "run.sh"), os.path.join(folder, "job.fore")
    with open(script, "w") as file:
        file.write(" ".join(map(str, words_of(c))) + "\n")
    tool.run("import", "megatron", script, "-o", job, "--name=job")
    with open(job, "a") as file:
        file.write('emit megatron { dialect = %s  scaling = %s  ranks = "%s" }\n'
                   % (dialect_of(c), tool.word(scaling),
                      ranks if isinstance(ranks, str) else ",".join(map(str, sorted(ranks)))))
    return job
