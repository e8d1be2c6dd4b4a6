# SPDX-License-Identifier: Apache-2.0
"""usage: refusals.py FOLDER

Compiles jobs that frameworks refuse. A row of rows.txt has layers, keys of `parallel`, and the reason
that the error must give; the same job without these keys must compile. A row of jobs.txt has the
name of a job, keys with which it is legal and with which it is not, and the reason.

Sources: Transformer Engine, attention/dot_product_attention/context_parallel.py,
attn_forward_func_with_cp (windows, sinks, widths); Megatron-LM, ssm/mamba_context_parallel.py,
ssm/gated_delta_net (heads and groups), experimental_attention_variant/dsa.py and
absorbed_mla.py, examples/t5/pretrain_t5.py, model_provider (encoders),
transformer/attention.py (key heads), transformer/transformer_config.py, __post_init__
(prediction with overlapped experts); Megatron-Bridge, llama4_utils (chunks). Scans, token shifts
and convolutions without a row in these have no implementation over ranks of cp that is public.
"""
import pathlib
import sys

import tool


def check(legal, illegal, reason):
    run = tool.attempt("plan", "-", "--error-limit=0", input=legal)
    assert run.returncode == 0, run.stderr + legal
    run = tool.attempt("plan", "-", "--error-limit=0", input=illegal)
    assert run.returncode == 1 and "error: " in run.stderr and reason in run.stderr, \
        f"{reason}: exit code {run.returncode}\n{run.stderr}{illegal}"


def of_layers(layers, keys):
    world = "" if "world" in keys else "world = 8"
    return (f"model m {{ vocab = 512  hidden = 256\n  {layers}\n  layers = 2 }}\n"
            f"train {{ sequence = 256  micro_batch = 1 }}\nparallel {{ {world}  {keys} }}\n")


def rows(name):
    for line in (folder / name).read_text("utf-8").splitlines():
        yield [cell.strip() for cell in line.split("|")]


folder, count = pathlib.Path(sys.argv[1]), 0
for layers, keys, reason in rows("rows.txt"):
    check(of_layers(layers, ""), of_layers(layers, keys), reason)
    count += 1
for name, legal, illegal, reason in rows("jobs.txt"):
    text = (folder / f"{name}.fore").read_text("utf-8")
    check(text.replace("KEYS", legal), text.replace("KEYS", illegal), reason)
    count += 1
print("refused:", count)
