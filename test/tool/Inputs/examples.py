# SPDX-License-Identifier: Apache-2.0
"""usage: examples.py FOLDER

Runs the example that the help of each subcommand shows, in a folder that has its inputs.
"""

import pathlib
import re
import subprocess
import sys

JOB = """import "clusters/h100.toml" as pod
model m { vocab = 32000  hidden = 1024  attention mha { heads = 16 }  ffn { }  layers = 16 }
train { sequence = 1Ki  micro_batch = 1  global_batch = 64 }
parallel { world = 8  pp = 2  zero = 1 }
cluster : pod { nodes = 1 }
"""
CONFIG = """{"model_type": "llama", "vocab_size": 1024, "hidden_size": 64, "intermediate_size": 128,
 "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2}"""
# What makes the inputs of the examples.
PREPARE = """foretrace compile job.fore --emit=megatron -o run/
foretrace compile job.fore --emit=chakra -o traces/
foretrace compile job.fore --emit=simai -o workload.txt
foretrace compile job.fore --emit=ir -o job.ftir
foretrace sweep job.fore --sweep parallel.tp=1,2 --shard=1/2 -o shards/1.db
foretrace sweep job.fore --sweep parallel.tp=1,2 --shard=2/2 -o shards/2.db
foretrace export megatron job.fore -o train.log"""
# Profiles need measured times, and servers a client.
NOT_RUN = {"calibrate", "explore", "fit", "infer", "lsp"}


def run(command, folder):
    done = subprocess.run(["sh", "-c", command], cwd=folder, capture_output=True, text=True,
                          check=False)
    if done.returncode:
        print(f"{command}: {done.returncode}\n{done.stderr}")


folder = pathlib.Path(sys.argv[1])
for name in ("models", "shards"):
    (folder / name).mkdir(parents=True)
for name in ("job.fore", "old.fore", "new.fore"):
    (folder / name).write_text(JOB, encoding="utf-8")
(folder / "config.json").write_text(CONFIG, encoding="utf-8")
run("foretrace fmt .", folder)
for command in PREPARE.splitlines():
    run(command, folder)
help_text = subprocess.run(["foretrace", "--help"], capture_output=True, text=True,
                           check=True).stdout
commands = re.findall(r"^  (\w+) +- ", help_text, re.M)
ran = 0
for command in commands:
    text = subprocess.run(["foretrace", "help", command], capture_output=True, text=True,
                          check=True).stdout
    example = re.search(r"^Example:\n  (foretrace .*)$", text, re.M)
    if not example:
        print(f"{command}: no example")
    elif command not in NOT_RUN:
        run(re.split(r" > | \| ", example[1])[0], folder)
        ran += 1
print(f"{len(commands)} examples, {ran} run")
