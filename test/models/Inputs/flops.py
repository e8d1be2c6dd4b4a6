# SPDX-License-Identifier: Apache-2.0
"""Holds `foretrace flops` against closed forms, to the last digit, and both against
what was published."""

import bridge
import tool

# None has a module for the prediction of a second token, which no job has.
# Both rates are printed as integers; nothing else may differ much.
BRIDGE_TOLERANCE = 0.0035

GROUPED = {row["model"]: list(row.values())[1:] for row in tool.published(__file__, "grouped.csv")}
NARAYANAN = tool.published(__file__, "narayanan.csv")  # table 1
# Tables 3 and 5: seconds of an iteration with selective recomputation, MFU and HFU in percent.
KORTHIKANTI = tool.published(__file__, "korthikanti.csv")
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
    rated = [of for of in bridge.CONFIGURATIONS if of["tokens"]]
    for of in rated:
        model, sequence, tp = of["model"], of["sequence"], of["tp"]
        ours, router = (of_grouped(model, sequence, tp) if model in GROUPED
                        else of_deepseek(sequence, tp))
        job = bridge.job(**of)
        found = flops(job)["model_flops_per_token"]
        assert found == ours + router, (of, found, ours, router)
        found = flops(job, "--router=false")["model_flops_per_token"]
        assert found == ours, (of, found, ours)
        assert abs(of["tflop"] * 10**12 / (of["tokens"] * found) - 1) < BRIDGE_TOLERANCE, (of, found)
    return len(rated)


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
    for model, h, layers, tp, pp, gpus, batch in map(dict.values, NARAYANAN):
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
         hfu) in map(dict.values, KORTHIKANTI):
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
