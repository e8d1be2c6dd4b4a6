#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds `foretrace flops` against closed forms, to the last digit, and both against
what was published."""

import bridge
import tool

# Of bridge.CONFIGURATIONS: tokens and TFLOP of a second and GPU. None has a
# module for the prediction of a second token, which no job has.
RATES = [
    (6798, 3056), (4458, 2004), (4596, 2064), (3613, 1623), (5003, 2248),
    (1621, 728), (1333, 3365), (1076, 2716), (931, 2349), (786, 1983),
    (988, 2495), (793, 2004), (311, 784), None, None, None, None,
    (30376, 699), (5113, 118), (6583, 974), (5448, 806), (2691, 399),
    (1633, 242), (37556, 1933), (31508, 1622), (30624, 1576), (14451, 744),
    (1602, 719), (999, 2522), (813, 2053), (661, 1667), (292, 737),
    (3848, 961), (4357, 1088), (3139, 782), (4018, 1003), None, (28934, 666),
    (23766, 547), (5275, 121), (6131, 907), (4916, 728), (3269, 484),
    (1575, 233), None]
# Both rates are printed as integers; nothing else may differ much.
BRIDGE_TOLERANCE = 0.0035

# V, h, layers, heads, groups of keys, channels of a head, and of the network;
# of experts how many there are and how many a token goes to
GROUPED = {
    "llama3-8b": (128256, 4096, 32, 32, 8, 128, 14336, 0, 0),
    "llama3-70b": (128256, 8192, 80, 64, 8, 128, 28672, 0, 0),
    "llama3.1-405b": (128256, 16384, 126, 128, 8, 128, 53248, 0, 0),
    "qwen3-30b-a3b": (151936, 2048, 48, 32, 4, 128, 768, 128, 8),
    "qwen3-235b-a22b": (151936, 4096, 94, 64, 4, 128, 1536, 128, 8),
}

# Narayanan et al., table 1: model, h, layers, tp, pp, GPUs, batch
NARAYANAN = [
    ("gpt-1.7b", 2304, 24, 1, 1, 32, 512),
    ("gpt-3.6b", 3072, 30, 2, 1, 64, 512),
    ("gpt-7.5b", 4096, 36, 4, 1, 128, 512),
    ("gpt-18.4b", 6144, 40, 8, 1, 256, 1024),
    ("gpt-39.1b", 8192, 48, 8, 2, 512, 1536),
    ("gpt-76.1b", 10240, 60, 8, 4, 1024, 1792),
    ("gpt-145.6b", 12288, 80, 8, 8, 1536, 2304),
    ("gpt-310.1b", 16384, 96, 8, 16, 1920, 2160),
    ("gpt-530b", 20480, 105, 8, 35, 2520, 2520),
    ("gpt-1t", 25600, 128, 8, 64, 3072, 3072),
]

# Korthikanti et al., tables 3 and 5: model, h, layers, pp, GPUs, micro-batch,
# batch, vpp; seconds of an iteration with selective recomputation; MFU and HFU
# in percent
KORTHIKANTI = [
    ("gpt-22b", 6144, 48, 1, 8, 4, 4, 1, 1.10, 41.5, 43.7),
    ("gpt3-175b", 12288, 96, 8, 64, 1, 64, 3, 13.75, 51.4, 52.8),
    ("gpt-530b", 20480, 105, 35, 280, 1, 280, 3, 37.83, 56.0, 57.0),
    ("gpt-1t", 25600, 128, 64, 512, 1, 512, 1, 71.49, 56.3, 57.0),
]
# Percentages are printed with a digit, seconds with two.
ROUNDED_PERCENT, ROUNDED_SECONDS = 0.05, 0.005


def flops(job, *options):
    """What the tool says of a job."""
    return tool.document("flops", "-", *options, input=job)


def padded(vocabulary, tp):
    """Megatron-LM pads a vocabulary to a multiple of 128 tp."""
    return -(-vocabulary // (128 * tp)) * 128 * tp


def of_grouped(model, sequence, tp):
    """FLOPs of a token, of its router apart: 2 for a multiply-add, half of the
    scores, and twice as much backward."""
    v, h, layers, heads, groups, d, f, experts, k = GROUPED[model]
    attention = (2 * h * (heads + 2 * groups) * d + 2 * heads * d * h
                 + 2 * sequence * heads * d)
    network = 3 * 2 * h * f * max(k, 1)
    return (3 * (layers * (attention + network) + 2 * h * padded(v, tp)),
            3 * layers * 2 * h * experts)


def of_deepseek(sequence, tp):
    """The same of DeepSeek-V3: latent attention, 3 dense layers and 58 of 256
    experts, of which a token goes to 8 and to one that all share."""
    h, heads, rope, nope, v, q, c = 7168, 128, 64, 128, 128, 1536, 512
    attention = (2 * (h * q + q * heads * (nope + rope))
                 + 2 * (h * (c + rope) + c * heads * (nope + v))
                 + 2 * heads * v * h + sequence * heads * (nope + rope + v))
    networks = 3 * 2 * h * (3 * 18432 + 58 * 9 * 2048)
    return (3 * (61 * attention + networks + 2 * h * padded(129280, tp)),
            3 * 58 * 2 * h * 256)


def check_bridge():
    count = 0
    for configuration, rate in zip(bridge.CONFIGURATIONS, RATES, strict=True):
        if rate is None:
            continue
        model, _, _, _, sequence, tp = configuration[:6]
        ours, router = (of_grouped(model, sequence, tp) if model in GROUPED
                        else of_deepseek(sequence, tp))
        job = bridge.job(*configuration)
        found = flops(job)["model_flops_per_token"]
        assert found == ours + router, (configuration, found, ours, router)
        found = flops(job,
                      "--router=false")["model_flops_per_token"]
        assert found == ours, (configuration, found, ours)
        tokens, tera = rate
        assert abs(tera * 10**12 / (tokens * found) - 1) < BRIDGE_TOLERANCE, (
            configuration, found)
        count += 1
    return count


def gpt(model, tp, pp, gpus, micro, batch, vpp=1, recompute="full", more=""):
    return """import "models/%s.fore"
train { sequence = 2048  micro_batch = %d  global_batch = %d
  recompute = %s  attention_backend = unfused }
parallel { world = %d  tp = %d  pp = %d  vpp = %d  %s }
%s""" % (model, micro, batch, recompute, gpus, tp, pp, vpp,
         "sequence_parallel = true" if tp > 1 else "", more)


def check_narayanan():
    """96 B s l h^2 (1 + s/6h + V/16lh) with all of a layer computed again, in
    which the scores count in full."""
    s, v = 2048, 51200
    for model, h, layers, tp, pp, gpus, batch in NARAYANAN:
        found = flops(gpt(model, tp, pp, gpus, 1, batch),
                      "--attention=full")
        forward = batch * s * layers * (24 * h * h + 4 * s * h)
        head = 6 * batch * s * h * v
        assert found["hardware_flops"] == 4 * forward + head, (model, found)
        assert found["model_flops"] == 3 * forward + head, (model, found)
        assert found["recomputed_flops"] == forward, (model, found)
    return len(NARAYANAN)


def check_korthikanti():
    """Appendix A: 72 B L s h^2 (1 + s/6h + V/12hL) of the model and
    72 B L s h^2 (1 + s/3h + V/12hL) of the hardware, where the scores that are
    computed again are only a third of what that adds; of 312 TFLOP/s."""
    s, v = 2048, 51200
    device = ("cost roofline { device { peak_flops = 312 TFLOP/s"
              "  memory_bandwidth = 2039 GB/s } }\n")
    for (model, h, layers, pp, gpus, micro, batch, vpp, seconds, mfu,
         hfu) in KORTHIKANTI:
        job = gpt(model, 8, pp, gpus, micro, batch, vpp, "selective", device)
        scores = 4 * batch * s * s * h * layers
        ours = (72 * batch * s * layers * h * h + 3 * scores
                + 6 * batch * s * h * v)
        found = flops(job, "--attention=full")
        assert found["model_flops"] == ours, (model, found, ours)
        assert found["hardware_flops"] == ours + scores, (model, found)
        found = flops(job, "--attention=full",
                      "--hardware=korthikanti", "--time=%g s" % seconds)
        assert found["hardware_flops"] == ours + 3 * scores, (model, found)
        for name, printed in (("mfu", mfu), ("hfu", hfu)):
            tolerance = ROUNDED_PERCENT + printed * ROUNDED_SECONDS / seconds
            assert abs(found[name] / 10**4 - printed) < tolerance, (
                model, name, found[name])
    return len(KORTHIKANTI)


print(check_bridge(), "configurations of Megatron-Bridge,", check_narayanan(),
      "of Narayanan et al.,", check_korthikanti(), "of Korthikanti et al.")
