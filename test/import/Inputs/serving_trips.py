# SPDX-License-Identifier: Apache-2.0
"""usage: serving_trips.py SEED COUNT

Random jobs that serve are exported as commands of their engine and imported again: what is not
refused, and not announced to differ, has the same spec."""
import re

import tool

MODELS = {"llama3-8b": (32, False), "llama3.1-405b": (126, False), "qwen3-30b-a3b": (48, True),
          "qwen3-235b-a22b": (94, True), "deepseek-v3": (61, True), "gpt-oss-20b": (24, True),
          "gpt-oss-120b": (36, True), "mixtral-8x7b": (32, True), "qwen3-next-80b-a3b": (48, True)}
VERSIONS = {"vllm": ["0.11", "0.24"], "sglang": ["0.5.8"], "trtllm": ["1.2"]}
# Differences that the commands keep: names of checkpoints.
KEPT = re.compile(r"is assumed to be `")


def layout(engine, layers, pp):
    """Layers of stages as the engine has them."""
    whole, rest = divmod(layers, pp)
    first = {"vllm": pp - 1 - rest, "sglang": pp - rest, "trtllm": 0}[engine]
    return [whole + (first <= stage < first + rest) for stage in range(pp)]


def job_of(draw):
    model = draw.choice(list(MODELS))
    layers, has_experts = MODELS[model]
    engine = draw.choice(list(VERSIONS))
    tp, pp = draw.choice([1, 2, 4, 8]), draw.choice([1, 1, 1, 2, 3, 4])
    dp = draw.choice([1, 2, 4, 8]) if has_experts else 1
    parallel = {"world": tp * dp * pp, "tp": tp, "pp": pp}
    if layers % pp:
        parallel["layout"] = layout(engine, layers, pp)
    if has_experts:
        ep = draw.choice([1, tp * dp, 2])
        parallel.update(ep=ep, etp=max(tp * dp // ep, 1))
    serve = {"engine": engine}
    for key, values in {
            "version": [f'"{version}"' for version in VERSIONS[engine]],
            "precision": ["bf16", "fp16"],
            "weight_precision": ["fp8", "fp8_block", "mxfp4", "nvfp4"],
            "kv_precision": ["fp8", "nvfp4", "fp8_ds_mla", "bf16"],
            "state_precision": ["bf16", "fp32"],
            "memory_fraction": ["0.85", "0.925", "0.7"],
            "block": [16, 32, 64],
            "blocks": [100000],
            "hybrid_cache": [True, False],
            "prefix_caching": [True, False],
            "max_length": [4096, 8000, 16384],
            "max_sequences": [1, 64, 257, 1000],
            "max_batch_tokens": [1024, 8192],
            "replicas": [1, 2, 5]}.items():
        if draw.random() < 0.3:
            serve[key] = draw.choice(values)
    if has_experts and dp > 1 and parallel["ep"] == tp * dp and draw.random() < 0.5:
        serve["exchange"] = draw.choice(["allgather", "alltoall", "deepep_normal", "deepep_low_latency"])
        serve["redundant_experts"] = parallel["ep"] * draw.randint(1, 2)
    requests = {"input": draw.randint(1, 2048), "output": draw.randint(1, 2048)}
    if draw.random() < 0.5:
        requests["concurrency"] = draw.randint(1, 512)
    return engine, "\n".join([f'import "models/{model}.fore"', tool.section("requests", **requests),
                              tool.section("serve", **serve),
                              tool.section("parallel", **parallel), ""])


def spec_of(job):
    """The keys of the spec. `etp = tp`, `concurrency = 1` and the like need not be stated."""
    return {re.sub(" (derived|default)$", "", line)
            for line in tool.ir(job, "--level=spec").splitlines() if not line.startswith("let ")}


def check(case):
    """What becomes of a job; it fails if the spec differs."""
    engine, text = job_of(case.draw)
    case.write(text)
    try:
        first = spec_of(case.job)
    except tool.Failed:
        return "illegal"
    script = case.stem + ".sh"
    exported = tool.attempt("export", engine, case.job, "-o", script)
    warnings = [line for line in exported.stderr.splitlines()
                if "[export-differs]" in line and not KEPT.search(line)]
    if exported.returncode:
        assert "[export-refused]" in exported.stderr, exported.stderr
        return "refused"
    back = case.stem + "-back.fore"
    tool.run("import", engine, script, "-o", back, "--quiet")
    if warnings:
        return "announced"
    second = spec_of(back)
    assert first == second, sorted(first ^ second)
    return "same"


tool.cases(check)
