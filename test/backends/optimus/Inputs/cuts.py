# SPDX-License-Identifier: Apache-2.0
"""usage: cuts.py JOB LAYERS STAGES...

Cuts a model into every legal number of stages: each leaf module is on one
stage, in order; what a stage reads was made before, and everything that is sent
was asked for."""

import json
import sys

import tool

SLOTS = ["self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj",
         "self_attn.o_proj", "mlp.gate_proj", "mlp.act_fn", "mlp.up_proj",
         "mlp.down_proj"]


def leaves(layers):
    """All leaf modules in order."""
    return (["model.embed_tokens"]
            + [f"model.layers.{layer}.{slot}" for layer in range(layers)
               for slot in SLOTS] + ["lm_head"])


def check(plan, layers, stages):
    """Asserts what holds for every plan."""
    members = [leaf for stage in range(stages)
               for part in plan["layer_lines"][str(stage)]
               for leaf in part["members"]]
    assert members == leaves(layers), members
    assert sum(plan["stage_module_counts"]) == plan["modcnt"] == len(members)
    known = {"input_ids"}
    read = set()
    for stage in range(stages):
        name = f"submod_{stage}"
        assert set(plan["submod_args"][name]) <= known, name
        read |= set(plan["submod_args"][name])
        outputs = plan["submod_outputs"][name]
        assert outputs, f"{name} makes nothing"
        if len(outputs) == 1:
            known.add(name)
        else:
            known |= {row[0] for row in plan["getitem_table"]
                      if row[1] == name}
    # All but the result is read by a later stage.
    assert known - read == {f"submod_{stages - 1}"}, known - read
    tied = plan["params_total"]
    assert sum(plan["stage_params_materialised"]) >= tied
    for boundary in plan["boundaries"]:
        sent, = boundary["fwd_payload_bytes_per_microbatch_fp32"].values()
        ideal, = boundary["ideal_payload_bytes_per_microbatch_fp32"].values()
        assert sent >= ideal > 0, boundary
        assert len(boundary["tensors"]) >= 1


job, layers, *stages = sys.argv[1:]
for count in stages:
    check(json.loads(tool.run("compile", job, f"-Dpp={count}", "-o", "-", "--quiet")),
          int(layers), int(count))
print(f"{len(stages)} plans")
