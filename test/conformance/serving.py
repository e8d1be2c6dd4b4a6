# SPDX-License-Identifier: Apache-2.0
"""Compares the memory of jobs that serve with tables of other sources: bytes of the cache by
model, type and tp (`kv_bytes.csv`)."""
import csv
import os

import tool

MARKER = "kv_bytes.csv"
# Models that the library has under another name, or that are said here.
NAMES = {"llama-2-7b": "llama2-7b", "llama-2-70b": "llama2-70b", "llama-3.1-70b": "llama3.1-70b"}
MODELS = {
    "mimo-7b": "model job { vocab = 151680 hidden = 4096 attention gqa { heads = 32 kv_heads = 8 }"
               " ffn dense { intermediate = 11008 activation = swiglu } layers = 36 * layer }",
    "opt-13b": "model job { vocab = 50272 hidden = 5120 positions = learned max_positions = 2048"
               " attention mha { heads = 40 } ffn dense { intermediate = 20480 activation = relu }"
               " layers = 40 * layer }",
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


def job_of(row):
    model = row["model"]
    text = MODELS.get(model, 'import "models/%s.fore"' % NAMES.get(model, model))
    return text + """
requests { input = 1024  output = 1024 }
serve { kv_precision = %s  precision = bf16 }
parallel { world = %s  tp = %s }
""" % (row["kv_dtype"], row["tp"], row["tp"])


def figures_of(job):
    """Bytes of the cache, by figure, over all stages."""
    with tool.scratch() as temp:
        (temp / "job.fore").write_text(job, encoding="utf-8")
        rows = tool.figures("memory", str(temp / "job.fore"))
    return {figure: value for (table, _, figure), value in rows.items() if table == "stages"}


COLUMNS = {"bytes_per_token_rank": "cache_token", "window_bytes_per_token_rank": "cache_limited",
           "state_bytes_per_sequence_rank": "cache_sequence"}


def run_folder(folder):
    with open(os.path.join(folder, MARKER), encoding="utf-8") as file:
        for row in csv.DictReader(file):
            case = "%s/%s %s tp %s" % (folder, row["model"], row["kv_dtype"], row["tp"])
            try:
                found = figures_of(job_of(row))
            except (ValueError, tool.Failed) as what:
                yield case, str(what).splitlines()[0]
                continue
            wrong = ["%s: expected %s, got %s" % (column, row[column], found.get(figure))
                     for column, figure in COLUMNS.items() if int(row[column]) != found.get(figure)]
            yield case, "; ".join(wrong) or None
