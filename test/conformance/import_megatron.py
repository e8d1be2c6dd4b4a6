# SPDX-License-Identifier: Apache-2.0
"""Imports argument lists, scripts and YAML files of Megatron-LM."""
import os
import re

import tool
from importing import Imported, differences, expected, verdict
from megatron_facts import Facts

# Warnings of the cases, and what an import says.
WARNINGS = {
    "--num-query-groups without": "`num_query_groups` has no effect",
    "--sequence-parallel with tp = 1": "no effect with tp = 1",
    "Pai-Megatron-Patch: padded": "is not padded; give their sum",
    "--step-batch-size-schedule beside": "refused by core 0.20",
    "slime passes": "slime passes",
    "the layout comes from a table": "looks its layout up in a table",
}
# Combinations that Megatron-LM accepts and jobs refuse: the warning that the import must
# give, the override that makes the rest comparable, and the facts that are left out.
REFUSED = [
    ("`muon` with the distributed optimizer", ["-Dparallel.zero=0"],
     {"zero", "distributed_optimizer"}),
    ("without experts has no key", ["-Dparallel.rank_order=tp_cp_ep_dp_pp"],
     {"rank_order", "etp"}),
]


def legal_world(facts):
    """A number of ranks with which the facts make a job."""
    batch, micro = facts.get("gbs") or 0, facts.get("mbs") or 1
    stage = facts["tp"] * facts["cp"]
    for dp in range(1, 4097):
        if (stage * dp % (facts["ep"] * facts["etp"]) == 0 and
                batch % (micro * dp) == 0 and
                dp % facts.get("distributed_optimizer_instances", 1) == 0):
            return dp * stage * facts["pp"]
    return stage * facts["pp"]


def stub(facts):
    """A model with the shape of the facts, for a job that has none."""
    moe = facts.get("moe")
    return """
model stub {
  vocab = %d   hidden = %d   max_positions = %d   vocab_multiple = 128
  attention gqa { heads = %d   kv_heads = %d   head_dim = %d }
  ffn { intermediate = %d   activation = swiglu }
  %s
  layers = %d
}
""" % (facts.get("vocab") or 32000, facts["hidden"], facts["max_positions"],
       facts["heads"], facts.get("kv_heads", facts["heads"]), facts["head_dim"],
       facts["ffn"], "block moe { experts = %d   topk = %d }"
       % (moe["experts"], moe["topk"]) if moe else "", facts["layers"])


def config_of(folder, case):
    """The config.json that a recipe takes its model from, if it is there."""
    path = os.path.join(folder, "..", "..", case.get("model_of", ""), "config.json")
    return [path] if "model_of" in case and os.path.exists(path) else []


# Facts that come from the code of a recipe's framework, which is not in the input, and
# facts of the training, all that a recipe without a model can have.
OF_FRAMEWORK = {"per_token_loss", "attention_mask_in_dataloader", "activation"}
OF_TRAINING = {"seq", "mbs", "gbs", "precision", "grad_precision", "optimizer",
               "recompute", "recompute_modules", "precision_aware", "hidden_dropout",
               "attention_dropout", "attention_backend", "world", "tp", "sp", "pp", "cp",
               "cp_comm", "ep", "etp", "vpp", "dp", "ga", "zero", "layout", "rank_order",
               "distributed_optimizer", "embedding_as_layer", "loss_as_layer",
               "overlap_grad_reduce", "overlap_param_gather", "tp_comm_overlap"}


def of_recipe(facts, found, imported):
    """The facts that the import of a recipe can have."""
    if imported.warns("the input has no model"):
        return {k: v for k, v in facts.items() if k in OF_TRAINING - OF_FRAMEWORK}
    facts = {k: v for k, v in facts.items() if k not in OF_FRAMEWORK}
    moe = dict(facts.get("moe") or {})
    # The framework's own classes set these, not the recipe.
    for name in ("router_bias", "router_dtype", "aux_loss", "aux_loss_coeff",
                 "aux_loss_active"):
        moe.pop(name, None)
    if moe.get("dispatcher") == "flex" and imported.warns("apply_flex_dispatcher"):
        found["moe"].update(dispatcher="flex", flex_backend=moe["flex_backend"])
    if moe:
        facts["moe"] = moe
    if "mla" in facts:
        facts.pop("head_dim")
    return facts


def missing(case, imported):
    """Returns questions and warnings of the case that the import lacks."""
    lost = []
    for ask in case["ask"]:
        name = ask.split(":")[0]
        if not (name in imported.params or imported.warns("`%s`" % name) or
                imported.warns("the input has no model") or
                name == "model" and imported.warns("checkpoint") or
                name == "world" and "world =" in imported.text):
            lost.append("does not ask for %s" % ask)
    for warning in case["warn"]:
        if warning.startswith("world = "):
            continue  # of the launcher, which is not in a list of arguments
        said = [text for start, text in WARNINGS.items() if warning.startswith(start)]
        if not said or not imported.warns(said[0]):
            lost.append("does not warn: %s" % warning)
    return lost


def given(facts, imported, world):
    """Values for what the job asks for."""
    values = {"world": world, "vocab": facts.get("vocab") or 32000,
              "sequence": facts.get("seq") or 4096, "micro_batch": facts.get("mbs") or 1,
              "fused_loss": "none",
              "layout": '"%s"' % "|".join(facts.get("layout_text", [])),
              "dp_shard": world // (facts["tp"] * facts["cp"] * facts["pp"])
              // facts.get("distributed_optimizer_instances", 1)}
    unknown = [name for name in imported.params if name not in values]
    if unknown:
        raise tool.Failed("asks for %s" % ", ".join(unknown))
    return tool.defined({name: values[name] for name in imported.params})


def compare(words, case):
    """The differences of the import of `words`."""
    facts = dict(case["facts"])
    imported = Imported("megatron", *words)
    # The facts are those of core 0.18. Runs of 0.19 reduce in the type of the weights
    # (mcore_fsdp_adapter.py, main_grads_dtype).
    if facts.get("fsdp") == "megatron" and 'megatron = "0.19"' in imported.text:
        facts["grad_precision"] = facts["precision"]
    if imported.warns("the input has no model"):
        imported.text += stub(facts)
    options = given(facts, imported, facts.get("world") or legal_world(facts))
    if "illegal" in facts:
        try:
            imported.spec(*options)
            yield "is accepted, but %s" % facts["illegal"]
            return
        except tool.Failed:
            pass
        options += ["-Dparallel.world=%d" % legal_world(facts)]
        for fact in ("world", "dp", "ga"):
            facts.pop(fact, None)
    for message, change, beside in REFUSED:
        if imported.warns(message):
            options += change
            facts = {k: v for k, v in facts.items() if k not in beside}
    found = Facts(imported.spec(*options), imported, case["facts"]).found
    if case.get("model_of") or "pretrain_recipe" in case.get("from", ""):
        facts = of_recipe(facts, found, imported)
    elif "names are attributes" in case.get("from", ""):
        # The arguments of these cases lost values that are 0.
        facts = {k: v for k, v in facts.items()
                 if not (k.endswith("_dropout") and found[k] == 0.0)}
    # Facts of experts and latents that the case lacks are not compared.
    for part in ("moe", "mla", "mtp"):
        if facts.get(part) and found.get(part):
            found[part] = {k: v for k, v in found[part].items() if k in facts[part]}
    yield from differences(facts, found)
    yield from missing(case, imported)


def originals(folder):
    """The files that the arguments of a case come from, as words of an import."""
    case = expected(folder)
    if len(case.get("arrays", [])) > 1:
        return  # parts of several scripts
    words = ["%s=%s" % pair for pair in case.get("environment", {}).items()]
    words += map(str, case.get("positional_arguments", []))
    for name in sorted(os.listdir(folder)):
        path = os.path.join(folder, name)
        if name.endswith((".sh", ".slurm")):
            yield name, [path, *words]
        elif name == "recipe.py":
            with open(path) as file:
                text = file.read()
            base = re.search(r"^    cfg = (\w+)\(", text, re.M)
            if base and "def %s(" % base[1] in text:
                function = re.search(r"^def (\w+)", text, re.M)[1]
                yield name, [path, function, *config_of(folder, case)]
        elif name == "model_config.yaml" or (
                name.endswith(".yaml") and is_main(path)):
            yield name, [path]


def is_main(path):
    """Whether the YAML file is the one that a user names, not one that it reads."""
    with open(path) as file:
        text = file.read()
    return bool(re.search("^system:", text, re.M) or
                re.search("^modules:", text, re.M) and "overrides" in text)


def run_folder(folder):
    """The arguments of a case, and the file that they come from."""
    case = expected(folder)
    inputs = [("args.txt", [os.path.join(folder, "args.txt"),
                            *config_of(folder, case)]), *originals(folder)]
    if "names are attributes" in case.get("from", ""):
        inputs.pop(0)  # flags cannot say what attributes say
    for name, words in inputs:
        yield os.path.join(folder, name), verdict(compare, words, case)
