# SPDX-License-Identifier: Apache-2.0
"""Jobs of published runs: a row of a CSV file with measured times as a `.fore` file.

What a source does not state is taken from its framework, the same for all of its rows;
nothing depends on the measured time. A row that the language cannot state raises
Unsayable with the reason.
"""

import csv
import math
import pathlib

CLUSTERS = {
    "A100": ("a100", 8), "A100-80GB": ("a100", 8), "A100-40GB": ("a100", 8),
    "H100": ("h100", 8), "H100-500W": ("h100", 8), "H800": ("h100", 8),
    "H200": ("h200", 8), "B200": ("b200", 8), "B300": ("b300", 8),
    "GB200": ("gb200-nvl72", 4), "GB300": ("gb300-nvl72", 4),
}

# Devices that differ from those of the cluster.
DEVICES = {
    "A100-40GB": "device { memory_bandwidth = 1555 GB/s }",
    "H100-500W": "device { memory_bandwidth = 2400 GB/s }",
}

# Models whose layers the table of shapes does not describe.
LIBRARY = {
    "deepseek-v3": "deepseek-v3-mtp", "deepseek-v3-nomtp": "deepseek-v3",
    "qwen3-30b-a3b": "qwen3-30b-a3b", "qwen3-235b-a22b": "qwen3-235b-a22b",
    "kimi-k2": "kimi-k2", "gpt-oss-120b": "gpt-oss-120b",
    "nemotron-3-nano": "nemotron-3-nano-30b-a3b",
    "nemotron-3-super": "nemotron-3-super-120b-a12b-mtp",
    "nemotron-h-56b": "nemotron-h-56b",
}


# Blocks with experts of models of the library.
MOE_BLOCKS = {"gpt-oss-120b": ["local", "global"]}

# What recipes of Megatron-Bridge set, by release, model, device and precision: facts of
# its repository at the tags of the releases (scripts/performance, perf_recipes).
RECIPES = list(csv.DictReader(
    open(pathlib.Path(__file__).parent / "recipes.csv", encoding="ascii")))


# What scripts of DGX Cloud benchmarking set, by tag: facts of its repository.
SCRIPTS = {(r["release"], r["model"], r["gpu"]): r for r in csv.DictReader(
    open(pathlib.Path(__file__).parent / "scripts.csv", encoding="ascii"))}


# Releases whose kernels in fp8 are slower than those that device profiles describe.
OLD_RELEASES = list(csv.DictReader(
    open(pathlib.Path(__file__).parent / "releases.csv", encoding="ascii")))


def script_row(row):
    """What the script of a run with NeMo sets beside its table, or nothing."""
    release = row["framework"].partition("(v")[2].rstrip(")")
    return SCRIPTS.get((release, row["model"], row["gpu"]), {})


def recipe_row(row):
    """The recipe of a run of Megatron-Bridge, or the nearest one: of the same model and
    device, then precision, then release."""
    release = row["framework"].split()[-1]

    def months(name):
        return 12 * int(name[:2]) + int(name[3:5])

    def distance(recipe):
        return (recipe["gpu"] != row["gpu"], recipe["precision"] != row["precision"],
                abs(months(recipe["release"]) - months(release)),
                recipe["release"] != release)
    same = [r for r in RECIPES if r["model"].split("-nomtp")[0]
            == row["model"].split("-nomtp")[0]]
    return min(same, key=distance) if same else None


class Unsayable(Exception):
    """The row has no job."""


def vtrain_row(row, name):
    """A row of vTrain's files as one of the others."""
    tp, pp = row["tensor parallelism"], row["pipeline parallelism"]
    hidden, layers = row["hidden size"], row["# layers"]
    dp = int(row["# GPUs"]) // int(tp) // int(pp)
    return {
        "id": name, "model": f"gpt-{hidden}", "gpu": "A100", "gpus": row["# GPUs"],
        "precision": "FP16", "framework": "Megatron-DeepSpeed (vTrain)",
        "seq": row["sequence length"], "mbs": row["micro batch"],
        "gbs": row["global batch"], "tp": tp, "sp": "0", "cp": "1", "ep": "1",
        "pp": pp, "vpp": "1", "dp": str(dp), "zero": "0", "layers": layers,
        "ga": str(int(row["global batch"]) // dp // int(row["micro batch"])),
        "recompute": "full", "notes": "",
        "iter_s": str(float(row["iteration time (ms)"]) / 1e3),
        "shape": {"model": f"gpt-{hidden}", "attention": "mha", "gated": "0",
                  "layers": layers, "hidden": hidden, "heads": row["attention heads"],
                  "kv_heads": row["attention heads"], "vocab": "51200",
                  "head_dim": str(int(hidden) // int(row["attention heads"])),
                  "ffn": str(4 * int(hidden)), "experts": "0"},
    }


def number(row, key, default=None):
    """A number of the row, which may be missing."""
    return int(float(row[key])) if row.get(key) else default


def recipe_of(row, gpu, facts):
    """The recipe and the precision of the products."""
    precision = row["precision"]
    if precision in ("BF16", "FP16"):
        return None
    if precision.startswith("NVFP4"):
        return "nvfp4"
    if "MX" in precision and gpu[0] != "H":
        return "mxfp8"
    if facts and facts["fp8_recipe"] == "mxfp8" and gpu[0] != "H":
        return "mxfp8"
    return "fp8"


def dense_block(shape):
    """The network of a layer without experts."""
    activation = "swiglu" if shape["gated"] == "1" else \
        "squared_relu" if shape["model"].startswith("nemotron") else "gelu"
    return f"ffn {{ intermediate = {shape['ffn']}  activation = {activation} }}"


def model_of(shape, layers):
    """A model by its table of shapes."""
    if shape["attention"] == "mla":
        attention = (f"mla {{ heads = {shape['heads']}  q_lora = {shape['q_lora']}  "
                     f"kv_lora = {shape['kv_lora']}  rope_dim = {shape['qk_rope']}  "
                     f"nope_dim = {shape['qk_nope']}  v_dim = {shape['v_dim']} }}")
    else:
        attention = (f"gqa {{ heads = {shape['heads']}  kv_heads = {shape['kv_heads']}  "
                     f"head_dim = {shape['head_dim']} }}")
    old = shape["gated"] == "0" and not shape["model"].startswith("nemotron")
    text = [f"model m {{ vocab = {shape['vocab']}  hidden = {shape['hidden']}  "
            f"norm = {'layernorm' if shape['gated'] == '0' else 'rmsnorm'}  "
            f"positions = {'learned' if old else 'rope'}",
            f"  attention {attention}"]
    if shape["experts"] in ("", "0"):
        text += ["  " + dense_block(shape), f"  layers = {layers} }}"]
        return "\n".join(text)
    shared = int(shape["shared_ffn"] or 0)
    dense = int(shape["dense_layers"] or 0)
    text += ["  block dense { " + dense_block(shape) + " }",
             f"  block moe {{ experts = {shape['experts']}  topk = {shape['topk']}"
             + (f"  shared = {shared // int(shape['moe_ffn'])}" if shared else "")
             + f"  ffn {{ intermediate = {shape['moe_ffn']}  activation = swiglu }} }}"]
    if shape["model"].startswith("llama4"):
        pattern = f"{layers // 2} * (dense + moe)"
    else:
        pattern = f"{dense} * dense + {layers - dense} * moe" if dense \
            else f"{layers} * moe"
    return "\n".join(text + [f"  layers = {pattern} }}"])


def cluster_of(row, gpus):
    """The cluster: whole nodes, and racks of which a job uses 64 devices."""
    name, per_node = CLUSTERS[row["gpu"]]
    inner = []
    if gpus < per_node:
        inner += [f"devices_per_node = {gpus}  nics = {gpus}"]
        nodes = 1
    else:
        nodes = math.ceil(gpus / per_node)
    tiers = ""
    if name.startswith("gb"):
        domain = 64 if gpus % 64 == 0 or gpus < 64 else 72
        domain = min(domain, gpus) if gpus < 64 else domain
        nodes = math.ceil(gpus / domain) * domain // per_node
        tiers = f"nvlink {{ devices = {domain} }} leaf {{ devices = {8 * domain} }}"
    elif gpus < 8:
        tiers = f"nvlink {{ devices = {gpus} }}"
    if tiers:
        inner += [f"tiers {{ {tiers} }}"]
    if row["id"].startswith("vtrain") and gpus >= 8:
        inner += ["nics = 4"]  # 800 Gbit/s a node, as vTrain's paper has it
    if row["id"].startswith("yafsdp"):
        inner += ["nics = 3"]
    if row["gpu"] in DEVICES:
        inner += [DEVICES[row["gpu"]]]
    return name, f"cluster : pod {{ nodes = {nodes}  {'  '.join(inner)} }}"


def framework_of(row):
    """What a framework does that its tables do not state."""
    name = row["framework"]
    if row["id"].startswith("vtrain"):
        return "megatron-2021"
    if row["id"].startswith("papers"):
        return "megatron-2021" if "2021" in name or "2022" in name else "nvidia"
    if row["id"].startswith("simumax"):
        return "simumax"
    if "fsdp" in name.lower() or row["id"].startswith(("foundry", "torchtitan", "yafsdp")):
        return "torch"
    return "nvidia"


def cost_of(row, kind):
    """The profile, and what is known of the run's kernels."""
    if kind == "simumax":
        return "cost estimate { profile = \"b200-simumax\" }"
    if kind == "megatron-2021":
        kernels = ""
        if row["id"].startswith("vtrain_single"):
            kernels += "host { launch_us = 85 }  "
        if row["sp"] != "1":  # DeepSpeed, runtime/pipe/engine.py; Narayanan et al., 4.1
            kernels += f"links {{ message_share = {1 / number(row, 'tp', 1):g} }} "
        return f"cost estimate {{ kernels {{ {kernels}}} }}"
    if row["framework"].startswith(("MaxText", "Paxml")):
        return "cost estimate { kernels { sustained { bf16 = 0.66  fp8 = 0.5 } } }"
    hopper = row["gpu"].startswith("H")
    if row["id"].startswith("foundry"):  # with position biases
        return torch_cost(0.34 if hopper else 0.45, 0.74 if hopper else 0.82)
    if row["id"].startswith("torchtitan"):
        return torch_cost(0.42, 0.62 if row["gpu"] == "H100-500W" else 0.74,
                          0.4 if "eager" in row["notes"] else None)
    if row["id"].startswith("yafsdp"):  # FSDP copies weights and gradients
        return torch_cost(0.57, 0.8 if row["framework"] == "YaFSDP" else 0.73)
    kernels = ""
    if script_row(row).get("attention") == "flash2":
        kernels += "attention { efficiency = 0.42 }  "
    for old in OLD_RELEASES:
        if row["framework"].startswith(old["framework"]) and row["gpu"] == old["gpu"]:
            kernels += "sustained { " + "  ".join(
                f"{of} = {old[of]}" for of in ("bf16", "fp8") if old[of]) + " }  "
    return f"cost estimate {{ kernels {{ {kernels}}} }}" if kernels else "cost estimate { }"


def torch_cost(attention, sustained, stream=None):
    """Kernels of PyTorch: FlashAttention 2, the share of benchmarks' rates, and that
    of the bandwidth if kernels between products are not compiled."""
    return (f"cost estimate {{ kernels {{ attention {{ efficiency = {attention} }}  "
            + (f"stream {{ efficiency = {stream} }}  " if stream else "")
            + f"sustained {{ bf16 = {sustained}  fp8 = {sustained} }} }} }}")


def job_of(row, shapes):
    """The text of the job."""
    gpus = number(row, "gpus")
    shape = row.get("shape") or shapes.get(row["model"], {})
    layers = number(row, "layers") or int(shape.get("layers") or 0)
    if "lora" in row["notes"].lower():
        raise Unsayable("adapters (LoRA)")
    if "packed" in row["notes"]:
        raise Unsayable("packed samples, of unstated lengths")
    lines = []
    if row["model"] in LIBRARY and not number(row, "layers"):
        name = LIBRARY[row["model"]]
        if "w/o MTP" in row["notes"] and name == "deepseek-v3-mtp":
            name = "deepseek-v3"
        lines.append(f'import "models/{name}.fore"')
    elif shape:
        lines.append(model_of(shape, layers))
    else:
        raise Unsayable("model without a table of its shape")
    cluster, text = cluster_of(row, gpus)
    lines.insert(0, f'import "clusters/{cluster}.toml" as pod')

    kind = framework_of(row)
    recipe_facts = recipe_row(row) \
        if row["framework"].startswith("Megatron-Bridge") else None
    tp, cp, pp = number(row, "tp", 1), number(row, "cp", 1), number(row, "pp", 1)
    vpp, ep = number(row, "vpp", 1) or 1, number(row, "ep", 1) or 1
    script = script_row(row)
    vpp = int(script.get("vpp") or vpp)
    dp = gpus // (tp * cp * pp)
    mbs, gbs = number(row, "mbs"), number(row, "gbs")
    zero = number(row, "zero", 0) or 0
    fsdp = number(row, "fsdp", 0) or 0
    if not mbs:  # of a model within a node, as Narayanan et al. have it
        mbs = 4 if pp == 1 and dp * 4 <= gbs else 1
    train = [f"sequence = {row['seq']}", f"micro_batch = {mbs}", f"global_batch = {gbs}"]
    recompute = row["recompute"]
    if recompute == "full":
        train.append("recompute = full")
    elif recompute.startswith("full("):
        train.append("recompute = full  recompute_num_layers = "
                     + recompute[len("full("):].split()[0])
    elif recompute == "selective":
        train.append("recompute = selective")
    elif recompute.startswith("selective"):
        train.append("recompute = op")
    if row["precision"] == "FP16":
        train.append("precision = fp16")
    recipe = recipe_of(row, row["gpu"], recipe_facts)
    if recipe:
        train.append(f"recipe = {recipe}")
    if kind == "megatron-2021":
        train += ["attention_backend = unfused", "dropout = true"]
    if kind in ("nvidia", "simumax"):
        train.append("fused_loss = te")
    overlaps_ep = False
    if kind == "nvidia":
        train.append("grad_precision = bf16")
    if script.get("graphs") == "1":
        train.append("cuda_graphs = true")
    if script.get("recompute"):
        train.append(f'recompute = selective  recompute_modules = "{script["recompute"]}"')
    if recipe_facts:
        if recipe_facts["graphs"] == "1":
            train.append("cuda_graphs = true")
        if recipe_facts["fused_mlp"] == "1":
            train.append("fused_experts = true")
        if recipe_facts["recompute_modules"]:
            train.append("recompute = selective")
            modules = recipe_facts["recompute_modules"].replace("+", " ")
            train.append(f'recompute_modules = "{modules}"')
        overlaps_ep = recipe_facts["overlap_ep"] == "1" and ep > 1 and \
            (vpp > 1 or pp == 1)
        if recipe_facts["dispatcher"] == "flex":
            lines.append(experts_of(row, "dispatcher = flex"))
        elif "tokens dropped" in row["notes"]:
            lines.append(experts_of(row, "capacity_percent = 100"))
    parallel = [f"world = {gpus}", f"tp = {tp}", f"cp = {cp}", f"pp = {pp}"]
    if cp > 1:
        parallel.append("cp_comm = " + ("a2a" if kind == "simumax" else "p2p"))
    if vpp > 1:
        parallel.append(f"vpp = {vpp}")
    if ep > 1:
        parallel.append(f"ep = {ep}")
        parallel.append(f"etp = {number(row, 'etp') or usual_etp(row)}")
    if row["sp"] == "1" and tp > 1:
        parallel.append("sequence_parallel = true")
    if zero == 3 or (fsdp and kind == "nvidia"):
        zero = 3
        if fsdp and fsdp < dp:
            parallel.append(f"dp_shard = {fsdp}")
    if zero > 1 and pp > 1:
        parallel.append("zero_pipeline = true")
    parallel.append(f"zero = {zero}")
    if kind == "nvidia":
        if zero < 3:
            parallel.append("overlap_grad_reduce = true")
        if zero == 1:
            parallel.append("overlap_param_gather = true")
        if tp > 1 and row["sp"] == "1" and not (
                recipe_facts and recipe_facts["tp_comm_overlap"] == "0"):
            parallel.append("tp_comm_overlap = true")
    if "asynchronous tp" in row["notes"]:
        parallel.append("tp_comm_overlap = true")
    if overlaps_ep:
        parallel.append("overlap_moe_expert_parallel_comm = true")
    uneven = layers and pp * vpp > 1 and layers % (pp * vpp)
    if uneven:
        parallel.append(layout_of(layers, pp, vpp))
    lines += [f"train {{ {'  '.join(train)} }}",
              f"parallel {{ {'  '.join(parallel)} }}", text, cost_of(row, kind)]
    return "\n".join(lines) + "\n"


def usual_etp(row):
    """NeMo splits experts over tp until 25.02 if nothing else is stated."""
    early = row["framework"].startswith(("NeMo (v24.", "NeMo (v25.02"))
    return number(row, "tp", 1) if early else 1


def experts_of(row, key):
    """The model with a key of its experts."""
    name = LIBRARY[row["model"]].replace("-", "_").replace(".", "_")
    blocks = MOE_BLOCKS.get(row["model"], ["E" if "nemotron" in row["model"] else "moe"])
    inner = "  ".join(f"block {b} {{ {key} }}" for b in blocks)
    return f"model m : {name} {{ {inner} }}"


def layout_of(layers, pp, vpp):
    """Layers of each chunk: embedding and head take a place of their own if the
    rest then divides; otherwise the last chunk has fewer, then the first one."""
    chunks = pp * vpp
    if (layers + 2) % chunks == 0:
        each = (layers + 2) // chunks
        counts = [each - 1] + [each] * (chunks - 2) + [each - 1]
    else:
        each = math.ceil(layers / chunks)
        spare = each * chunks - layers
        last = min(each, spare)
        counts = [each - (spare - last)] + [each] * (chunks - 2) + [each - last]
    return "layout = [" + ", ".join(map(str, counts)) + "]"
