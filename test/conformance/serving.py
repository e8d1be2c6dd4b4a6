# SPDX-License-Identifier: Apache-2.0
"""Compares jobs that serve with tables of other sources: bytes of the cache by model, type and tp
(`kv_bytes.csv`), what engines printed about their memory (`kv_capacity.csv`), hits of prefix caches
for the traces beside the table (`prefix_hits.csv`), and copies of experts as EPLB places them
(`eplb.csv`)."""
import csv
import json
import os
import re
import sys

import tool

# Models that the library has under another name, or that are said here.
NAMES = {"qwen3-omni-30b-a3b": "qwen3-30b-a3b", "qwq-32b": "qwen2.5-32b", "llama-3-8b": "llama3-8b",
         "qwen3.6-35b-a3b": "qwen3.5-35b-a3b", "llama-2-7b": "llama2-7b", "llama-2-70b": "llama2-70b", "llama-3.1-70b": "llama3.1-70b"}
MODELS = {
    "mimo-7b": "model job { vocab = 151680 hidden = 4096 attention gqa { heads = 32 kv_heads = 8 }"
               " ffn dense { intermediate = 11008 activation = swiglu } layers = 36 * layer }",
    "opt-13b": "model job { vocab = 50272 hidden = 5120 positions = learned max_positions = 2048"
               " attention mha { heads = 40 } ffn dense { intermediate = 20480 activation = relu }"
               " layers = 40 * layer }",
    "opt-2.7b": "model job { vocab = 50272 hidden = 2560 tied = true positions = learned max_positions = 2048"
                " attention mha { heads = 32 } ffn dense { intermediate = 10240 activation = relu }"
                " layers = 32 * layer }",
    "step-3.7-flash":
        "model job { vocab = 128896 hidden = 4096 norm = rmsnorm"
        " attention gqa { heads = 64 kv_heads = 8 head_dim = 128 } ffn dense { intermediate = 11264 }"
        " block full { } block sliding { attention gqa { heads = 96 window = 512 } }"
        " layers = 11 * (full + 3 * sliding) + full }",
    "qwen3.5-122b-a10b":
        'import "models/qwen3-next.fore" model job : qwen3_next_80b_a3b { hidden = 3072'
        " block full { attention gqa { heads = 32 kv_heads = 2 head_dim = 256 } }"
        " block linear { attention gated_delta_net { key_heads = 16 value_heads = 64 key_dim = 128 value_dim = 128 } }"
        " layers = 12 * (3 * linear + full) }",
}


def figures_of(job, **files):
    """Returns the figures of a job by (table, figure) and by (table, row, figure)."""
    with tool.scratch() as temp:
        for name, text in {"job": job, **files}.items():
            (temp / (name + (".fore" if name == "job" else ".csv"))).write_text(text, encoding="utf-8")
        rows = tool.table("memory", str(temp / "job.fore"))
    return {**{(row["table"], row["figure"]): row["value"] for row in rows},
            **{(row["table"], row["row"], row["figure"]): row["value"] for row in rows}}


def differences(row, found, figures):
    """Returns what differs between columns of a row, which may be empty, and figures."""
    return "; ".join("%s: expected %s, got %s" % (column, row[column], found.get(figure))
                     for column, figure in figures.items()
                     if row[column] != found.get(figure, "")) or None


CACHE = {"bytes_per_token_rank": ("stages", "cache_token"),
         "window_bytes_per_token_rank": ("stages", "cache_limited"),
         "state_bytes_per_sequence_rank": ("stages", "cache_sequence")}


def check_cache(row, _folder):
    """Bytes that a token and a sequence leave on a rank, over all stages."""
    model = row["model"]
    found = figures_of(MODELS.get(model, 'import "models/%s.fore"' % NAMES.get(model, model)) + """
requests { input = 1024  output = 1024 }
serve { kv_precision = %s  precision = bf16 }
parallel { world = %s  tp = %s }
""" % (row["kv_dtype"], row["tp"], row["tp"]))
    return differences(row, found, CACHE)


GIB = 1 << 30
DTYPES = {"fp16": "bf16"}  # which have the same size
# CUDA's memory of devices for which a row has none, in GiB.
DEVICES = {"A100 80GB": "79.15", "H100 80GB": "79.15", "A100/H100 80GB": "79.15"}


# What checkpoints say of states, which vLLM follows (`mamba_ssm_dtype`).
STATES = {"qwen3.6-35b-a3b": "state_precision = fp32"}
DEVICE = """cluster { nodes = 1  devices_per_node = 8  device { name = "%s"  memory = %d }
  tiers { all { bandwidth = 1 GB/s  latency = 1 us } } }
"""


def memory_of(row, *keys, memory=None):
    """Returns the figures of the job of a row, on a device with so many bytes, on which its defaults
    depend, too."""
    model = row["model"]
    length = int(row["max_len"] or 2048)
    with tool.scratch() as temp:
        (temp / "job.fore").write_text(
            MODELS.get(model, 'import "models/%s.fore"' % NAMES.get(model, model)) + """
requests { input = %d  output = 1 }
serve { engine = %s  max_length = %d %s %s %s precision = bf16  kv_precision = %s }
parallel { world = %d  tp = %s  pp = %s }
%s""" % (length - 1, row["engine"], length,
            'version = "%s"' % row["version"] if re.fullmatch(r"[0-9.]+", row["version"]) else "",
            STATES.get(model, ""),
            "memory_fraction = %s" % row["memory_fraction"] if row["memory_fraction"] else "",
            DTYPES.get(row["kv_dtype"], row["kv_dtype"]), int(row["tp"]) * int(row["pp"]), row["tp"],
            row["pp"], DEVICE % (row["gpu"], memory) if memory else ""), encoding="utf-8")
        rows = tool.table("memory", str(temp / "job.fore"), *("-D" + key for key in keys))
    return {line["figure"]: int(line["value"]) for line in rows if line["value"].isdigit()}


def rounding(printed):
    """Returns half of the last printed digit."""
    return 0.5 * 10 ** -len(printed.partition(".")[2])


def tokens_in(row, size):
    """Returns the tokens that the engine prints for a pool of so many bytes."""
    huge = memory_of(row, memory=10 ** 15)
    blocks = int(size) // (huge["pool"] // huge["blocks"])
    found = memory_of(row, "serve.blocks=%d" % blocks)
    release = re.match(r"0\.(\d+)", row["version"])
    if row["engine"] != "vllm" or not release or int(release[1]) < 20:
        return found["kv_tokens"]
    # Later releases print how often the longest request fits, times its length.
    many = memory_of(row, "serve.blocks=1000000", "serve.max_sequences=100000",
                     "serve.max_batch_tokens=100000")
    return blocks * int(row["max_len"]) // (1000000 // many["sequences"])


def check_capacity(row, _folder):
    """Tokens of the printed pool, within the rounding of the print; weights; and blocks by the
    memory of the device alone, within 5 %."""
    wrong = []
    if row["kv_gib"]:
        half = rounding(row["kv_gib"]) * (2 if row["engine"] == "sglang" else 1)
        least, most = (tokens_in(row, (float(row["kv_gib"]) + sign * half) * GIB) for sign in (-1, 1))
        if not least <= int(row["tokens"]) <= most:
            wrong.append("tokens: expected %s, got %d to %d" % (row["tokens"], least, most))
    if row["weights_gib"] and row["weight_dtype"] in ("bf16", "fp16"):
        expected = float(row["weights_gib"])
        found = memory_of(row)["weights"] / GIB
        if abs(found - expected) > expected * 0.001 + rounding(row["weights_gib"]):
            wrong.append("weights: expected %s GiB, got %.4f" % (row["weights_gib"], found))
    total = row["total_gib"] or DEVICES.get(row["gpu"])
    if total and row["blocks"] and row["weight_dtype"] in ("bf16", "fp16"):
        found = memory_of(row, memory=int(float(total) * GIB))["kv_blocks"]
        if abs(found / int(row["blocks"]) - 1) > 0.05:
            wrong.append("blocks: expected %s, got %d" % (row["blocks"], found))
    return "; ".join(wrong) or None


HITS = {column: ("", {"requests": "trace_requests", "blocks": "trace_blocks"}.get(column, column))
        for column in ("requests", "input_tokens", "output_tokens", "blocks", "hit_blocks", "hit_tokens",
                       "requests_hit_fully", "evictions", "blocks_at_end")}


def trace_of(row, folder):
    """Returns the file of a trace, which can have the name of its source before its own."""
    form = re.compile(r"(\w+_)?%s(_trace)?\.jsonl" % re.escape(row["trace"]))
    return next((os.path.abspath(os.path.join(folder, name)) for name in sorted(os.listdir(folder))
                 if form.fullmatch(name)), None)


def check_hits(row, folder):
    """Replays with blocks of 512 tokens, of which the trace has an id each."""
    blocks = int(row["capacity_blocks"])
    found = figures_of("""model job { vocab = 512  hidden = 64  attention mha { heads = 8 }  layers = 1 }
requests { from = file(%s) }
serve { block = 512  %s }
parallel { world = 1 }
""" % (json.dumps(trace_of(row, folder)), "blocks = %d" % blocks if blocks else ""))
    return differences(row, found, HITS)


def check_placement(row, _folder):
    """A rank of ep is a device, and a token selects one expert, so that weights can be any."""
    experts, ranks, nodes = int(row["experts"]), int(row["ranks"]), int(row["nodes"])
    found = figures_of("""model job { vocab = 512  hidden = 64  attention mha { heads = 8 }
  block e { experts = %d  topk = 1  router_groups = %s  ffn { intermediate = 64 } }
  layers = e }
requests { input = 1  output = 1 }
serve { redundant_experts = %d  routing = file("tokens.csv") }
parallel { world = %d  ep = %d }
cluster { nodes = %d  devices_per_node = %d  tiers { all { bandwidth = 1 GB/s  latency = 1 us } } }
""" % (experts, row["groups"], int(row["physical"]) - experts, ranks, ranks, nodes, ranks // nodes),
                       tokens=row["weights"])
    found = {figure: value.removesuffix("/1") if figure[-1] == "busiest_without_copies" else value
             for figure, value in found.items()}
    found["copies"] = " ".join(found.get(("experts", str(expert), "copies"), "1")
                               for expert in range(experts))
    return differences(row, found, {"busiest_rank": ("", "busiest_rank"), "copies": "copies",
                                    "busiest_without_copies": ("", "busiest_without_copies")})


# The columns that name a row, and what compares it.
TABLES = {"kv_bytes.csv": ("model kv_dtype tp", check_cache),
          "kv_capacity.csv": ("engine version model kv_dtype gpu", check_capacity),
          "prefix_hits.csv": ("trace capacity_blocks", check_hits),
          "eplb.csv": ("experts physical groups nodes ranks weights_kind", check_placement)}


def find_folders(root):
    return sorted(folder for folder, _, files in os.walk(root) if not TABLES.keys().isdisjoint(files))


def run_folder(folder):
    for name in sorted(TABLES.keys() & set(os.listdir(folder))):
        columns, check = TABLES[name]
        with open(os.path.join(folder, name), encoding="utf-8") as file:
            for row in csv.DictReader(file):
                case = " ".join([os.path.join(folder, name), *(row[column] for column in columns.split())])
                if row.get("certain") == "no":
                    continue
                if check is check_hits and not trace_of(row, folder):
                    print("%s: left out, as its trace is not there" % case, file=sys.stderr)
                    continue
                try:
                    yield case, check(row, folder)
                except (ValueError, tool.Failed) as what:
                    yield case, str(what).splitlines()[0]
