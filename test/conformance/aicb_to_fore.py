# SPDX-License-Identifier: Apache-2.0
"""Turns a job of the public workload generator into a `.fore` file.

Two kinds of case describe such a job: `case.json` with short keys, and
`args.json` with the generator's own command-line options, for a table or for a
CSV workload. All are read into the short keys; `to_fore` writes them down. A key
or an option that is not in the tables below is a ValueError: what would be
dropped might matter.
"""
import json
import os
import re

# Sections of measured times by their short key in case.json.
SECTIONS = {
    "emb": "Emb", "ln": "layernorm", "qkv": "atten_qkv",
    "flash": "atten_flash", "al": "atten_linear", "ln2": "layernorm2",
    "m1": "mlp_linear_1", "mg": "mlp_gelu", "m2": "mlp_linear_2",
    "lp": "layernorm_post", "lo": "logit", "pmin": "param_time_min",
    "pavg": "param_time_avg",
}

# Short key, option of the generator, its default.
OPTIONS = [
    ("world_size", "world_size", 1),
    ("tp", "tensor_model_parallel_size", 1),
    ("pp", "pipeline_model_parallel", 1),
    ("cp", "context_parallel_size", 1),
    ("global_batch", "global_batch", 4),
    ("mbs", "micro_batch", 1),
    ("layers", "num_layers", 24),
    ("seq", "seq_length", 2048),
    ("hidden", "hidden_size", 1024),
    ("heads", "num_attention_heads", None),
    ("vocab", "vocab_size", 32000),
    ("vocab_multiple", "make_vocab_size_divisible_by", 128),
    ("ffn", "ffn_hidden_size", None),
    ("ep", "expert_model_parallel_size", 1),
    ("experts", "num_experts", 1),
    ("topk", "moe_router_topk", 1),
    ("ndense", "n_dense_layers", 3),
    ("nshared", "n_shared_expert", 2),
    ("q_lora", "q_lora_rank", 1536),
    ("kv_lora", "kv_lora_rank", 512),
    ("rope", "qk_rope_dim", 64),
    ("nope", "qk_nope_dim", 128),
    ("v", "v_head_dim", 128),
    ("sp", "enable_sequence_parallel", False),
    ("swiglu", "swiglu", False),
    ("bias", "add_bias_linear", False),
    ("recompute", "recompute_activations", False),
    ("moe", "moe_enable", False),
    ("gg", "moe_grouped_gemm", False),
]
SHORT_KEYS = {short for short, _, _ in OPTIONS} | {"frame"}
# Options on which no table depends. What the operations of a layer are matters
# only where they are measured, and the measured times are part of a case.
IGNORED = set("""
    activation_func bias_gelu_fusion dtype enable_visual gated_linear_unit
    gpu_type max_position_embeddings model_name onnx_safe openai_gelu
    overlap_grad_reduce overlap_version squared_relu use_flash_attn
    workload_only
""".split())
# Options on which workloads depend, but no table; they are keys of `emit aicb`.
WORKLOAD = """
    epoch_num computation_enable amp_enabled reduce_bucket_size
    allgather_bucket_size contiguous_gradients param_persistence_threshold
    model_persistence_threshold max_live_parameters prefetch_bucket_size
    pp_rank begin_size end_size test_comm iter_num multi_all_reduce_enable
""".split()
# The same, but they belong to the job.
ZERO = {"stage", "use_distributed_optimizer"}
# The generator's programs that write a workload.
KINDS = {"generate_deepspeed_stage1_2_workload": "deepspeed",
         "generate_deepspeed_stage3_workload": "deepspeed",
         "generate_megatron_workload": "megatron",
         "generate_collective_test": "collective"}
# Short keys that they don't read, and what stands for them.
UNREAD = {
    "deepspeed": {"cp": 1, "ep": 1, "sp": False, "moe": False,
                  "recompute": False},
    "megatron": {"cp": 1, "recompute": False},
}
# Options that ask for measured times.
TIMED = {"aiob_enable", "comp_filepath"}
# Revisions of the generator and the version whose tables they write.
REVISIONS = {revision: version for version, revisions in {
    "2024-10": "2678a94 d9b4f5c",
    "2024-12": "cf516c0",
    "2025-01": "ed1dee4 3ccea49 9ac2f0e",
    "2025-09-15": "741fbe8 475e77e",
    "2025-12": "92a99f8 b866b12 3d58f44 6584080 05551a1 7dae7db 508cd8f "
               "9d51993 23eec3c",
}.items() for revision in revisions.split()}
# Versions that take experts for a dense network unless their products are
# grouped.
NEEDS_GROUPED_GEMM = {"2024-10", "2024-12"}

ALLOWED = [
    "layers-indivisible", "batch-indivisible", "heads-indivisible",
    "kv-heads-indivisible", "kv-heads-no-factor", "head-dim-indivisible",
    "rotary-odd",
    "sequence-indivisible", "sequence-exceeds-positions", "sp-without-tp",
    "moe-needs-sp",
    "topk-exceeds-experts", "ep-exceeds-dp", "ep-without-experts",
    "simai-cp-ignored",
]
ALLOWED_IN_TABLE = ALLOWED + ["simai-time-limit", "simai-pp-comm-limit"]
ALLOWED_IN_WORKLOAD = ALLOWED + ["aicb-ignored"]


def read_aiob(path):
    """Section times in us, as the generator reads its measurement file."""
    times = {}
    section = None
    for line in open(path):
        name = re.match(r"^(\w+):\s*$", line)
        value = re.match(r"^\s+time_gpu_(\w+):\s*(\S+)", line)
        if name:
            section = name.group(1)
        elif value and section == "param_time":
            if value.group(1) in ("min", "avg"):
                times["param_time_" + value.group(1)] = value.group(2)
        elif value and section and value.group(1) == "avg":
            times[section] = value.group(2)
    return times


def full_name(option):
    """The name of an option, which the command line may cut short."""
    name = option.replace("-", "_")
    known = ({full for _, full, _ in OPTIONS} | IGNORED | TIMED | ZERO
             | set(WORKLOAD))
    if name in known:
        return name
    longer = [full for full in known if full.startswith(name)]
    if len(longer) != 1:
        raise ValueError("unknown option %r" % option)
    return longer[0]


def read_options(case):
    """The options of a command line by their full names."""
    given = {full_name(name): value for name, value in case["options"].items()}
    for flag in case["flags"]:
        name, has_value, value = flag.partition("=")
        given[full_name(name)] = value if has_value else True
    return given


def zero_of(case, given):
    """The stage of ZeRO that a program writes."""
    if case["module"] == "generate_deepspeed_stage3_workload":
        return 3
    if KINDS[case["module"]] == "deepspeed":
        return 1 if int(given.get("stage", 3)) == 1 else 2
    return int("use_distributed_optimizer" in given)


def job_for_workload(case, job):
    """The job, as far as a program reads it."""
    kind = KINDS[case["module"]]
    if kind == "collective":
        if job["pp"] > 1 and case["frame"] != "collective_test":
            raise ValueError("a test for a model's pipeline")
        # Ranks alone count; of this model tp and pp leave nothing over.
        return dict(job, hidden=job["tp"], heads=job["tp"], ffn=job["tp"],
                    layers=job["pp"], **UNREAD["deepspeed"])
    return dict(job, **UNREAD[kind])


def workload_keys(case, given):
    """The keys of `emit aicb` that stand for the options of a case."""
    keys = {"kind": KINDS[case["module"]]}
    for name in WORKLOAD:
        value = given.get(name)
        if name == "multi_all_reduce_enable":
            value = bool(int(value or 0))
        if value is True:
            keys[name] = "true"
        elif value is not None and value is not False and str(value) != "-1":
            keys[name] = value
    if "aiob_enable" in given:
        keys["computation_enable"] = "true"
    return keys


def read_case(folder):
    """The job of a case folder: (version, short keys, times or None, keys of
    `emit aicb` or None)."""
    path = os.path.join(folder, "case.json")
    if os.path.exists(path):
        case = json.load(open(path))
        times = case.get("times_us")
        if times is not None:
            times = {SECTIONS.get(k, k): repr(v) for k, v in times.items()}
        unknown = sorted(set(case["config"]) - SHORT_KEYS)
        if unknown:
            raise ValueError("unknown keys %s" % ", ".join(unknown))
        return case["generator_version"], dict(case["config"]), times, None
    case = json.load(open(os.path.join(folder, "args.json")))
    given = read_options(case)
    job = {"frame": case["frame"]}
    for short, option, default in OPTIONS:
        value = given.get(option, default)
        if value is not None:
            job[short] = int(value) if isinstance(value, str) else value
    job.setdefault("heads", job["layers"])
    version = REVISIONS[case["aicb_commit"]]
    if case.get("output_format") == "csv":
        job = job_for_workload(case, job)
        job["zero"] = zero_of(case, given)
        return version, job, None, workload_keys(case, given)
    times = None
    if case.get("aiob_times"):
        times = read_aiob(os.path.join(folder, case["aiob_times"]))
    elif TIMED & set(given):
        raise ValueError("measured times are asked for, but not there")
    return version, job, times, None


def ffn_of(job):
    """The generator's default width, which alone knows of gating."""
    if job.get("ffn"):
        return job["ffn"]
    if job.get("swiglu"):
        return int(4 * job["hidden"] * 2 / 3 / 64) * 64
    return 4 * job["hidden"]


def attention_of(job, deepseek):
    if not deepseek:
        return "attention mha { heads = %d }" % job["heads"]
    return ("attention mla { heads = %d  q_lora = %d  kv_lora = %d  "
            "rope_dim = %d  nope_dim = %d  v_dim = %d }"
            % (job["heads"], job.get("q_lora", 1536), job.get("kv_lora", 512),
               job.get("rope", 64), job.get("nope", 128), job.get("v", 128)))


def layers_of(job, deepseek):
    """The blocks and the pattern."""
    ffn = "ffn { intermediate = %d }" % ffn_of(job)
    if not job.get("moe") and not deepseek:
        return [ffn, "layers = %d" % job["layers"]]
    shared = job.get("nshared", 0) if deepseek else 0
    # The generator knows no biases of experts.
    moe = ("block moe { experts = %d  topk = %d  shared = %d  "
           "ffn { intermediate = %d  bias = false } }"
           % (job["experts"], job["topk"], shared, ffn_of(job)))
    if not deepseek:
        return [moe, "layers = %d * moe" % job["layers"]]
    dense = min(job.get("ndense", 0), job["layers"])
    pattern = []
    if dense:
        pattern.append("%d * dense" % dense)
    if job["layers"] > dense:
        pattern.append("%d * moe" % (job["layers"] - dense))
    return ["block dense { %s }" % ffn, moe,
            "layers = " + " + ".join(pattern)]


def emit_of(version, keys):
    """The `emit` block: of a workload if it has keys of its own, or a table."""
    allowed = ALLOWED_IN_TABLE if keys is None else ALLOWED_IN_WORKLOAD
    lines = ["emit simai {" if keys is None else "emit aicb {",
             '  file = "workload.txt"  version = "%s"' % version]
    lines += ["  %s = %s" % item for item in
              ({"accounting": "aicb"} if keys is None else keys).items()]
    return lines + ["  allow = [%s]" % ", ".join('"%s"' % s for s in allowed),
                    "}"]


def to_fore(folder):
    """The text of a `.fore` file that stands for the case in `folder`."""
    version, job, times, keys = read_case(folder)
    if version in NEEDS_GROUPED_GEMM and not job.get("gg"):
        job["moe"] = False
    deepseek = job.get("frame") == "DeepSeek"
    flag = lambda name: "true" if job.get(name) else "false"
    lines = ["model job {",
             "  vocab = %d  vocab_multiple = %d  hidden = %d  bias = %s"
             % (job["vocab"], job.get("vocab_multiple", 128), job["hidden"],
                flag("bias")),
             "  " + attention_of(job, deepseek)]
    lines += ["  " + line for line in layers_of(job, deepseek)]
    lines += ["}",
              "train { sequence = %d  micro_batch = %d  global_batch = %d  "
              "recompute = %s }"
              % (job["seq"], job["mbs"], job["global_batch"],
                 "selective" if job.get("recompute") else "none"),
              "parallel { world = %d  tp = %d  pp = %d  ep = %d  cp = %d  "
              "sequence_parallel = %s  zero = %d }"
              % (job["world_size"], job["tp"], job["pp"], job.get("ep", 1),
                 job.get("cp", 1), flag("sp"), job.get("zero", 0))]
    if times is not None:
        lines.append("cost profile { times {")
        lines += ["  %s = %s us" % item for item in times.items()]
        lines.append("} }")
    lines += emit_of(version, keys)
    return "\n".join(lines) + "\n"
