# SPDX-License-Identifier: Apache-2.0
"""Imports configurations of DeepSpeed, and compares what the jobs mean. The files have no
model and no ranks, so a small model and the ranks are added."""
import os
import tempfile

import import_megatron
import importing
import spec

find_folders = importing.find_folders

MODEL = """
model small {
  vocab = 1024   hidden = 64
  attention mha { heads = 4 }
  ffn { intermediate = 256 }
  layers = 2
}
"""
# Values of keys that need no message.
HARMLESS = {"contiguous_gradients": True, "reduce_scatter": True}
OPTIMIZERS = {None: "adam", "Adam": "adam", "AdamW": "adam",
              "FusedAdam": "adam", "CPUAdam": "adam", "Muon": "muon",
              "SGD": "sgd"}
# Facts that are not of the job itself.
OTHERS = {"model_arguments", "gradient_accumulation_derived", "world",
          "pipeline_config"}

# Arguments that the file overrides.
DECIDED = {"overlap_grad_reduce"}


def replicas_of(facts):
    """A number of replicas that all stated batches allow."""
    total = facts["train_batch_size"]
    micro, steps = facts["micro_batch"], facts["gradient_accumulation"]
    if facts.get("dp_implied"):
        return facts["dp_implied"]
    return total // (micro * steps) if total and micro and steps else 1


class Case:
    def __init__(self, case, job):
        self.facts, self.job = case["facts"], job
        self.ranks = self.facts.get("tp", 1) * self.facts.get("ulysses", 1) \
            * replicas_of(self.facts)

    def given(self):
        """Values of what the job asks for."""
        facts = self.facts
        values = {"world": self.ranks, "sequence": 128,
                  "micro_batch": facts["micro_batch"] or 1,
                  "ga": facts["gradient_accumulation"] or 1,
                  "global_batch": self.ranks,
                  "tp": facts.get("tp") or 1, "cp": facts.get("ulysses") or 1,
                  "precision": facts["precision"] or "bf16",
                  "zero": facts["zero"] if isinstance(facts["zero"], int) else 0}
        return [word for name in self.job.params
                for word in ("-D", "%s=%s" % (name, values[name]))]

    def asks(self, name, want):
        """`want` if the job asks for it; it can't say otherwise."""
        return want if name in self.job.params else "not asked for"

    def has_key(self, key, value, parallel):
        """Whether a key of `zero_optimization` is modelled or named as lost."""
        if key == "overlap_comm":
            return ("overlap_grad_reduce = %s" % str(value).lower()
                    in self.job.text or value is False)
        if HARMLESS.get(key) == value:
            return True
        if key == "stage3_param_persistence_threshold" \
                and parallel.get("zero_persistence") == value:
            return True
        return self.job.warns(r"\b%s\b" % key)

    def batches(self, train, parallel):
        stated = self.facts
        found = {"train_batch_size": train["global_batch"],
                 "micro_batch": train["micro_batch"],
                 "gradient_accumulation": parallel["ga"],
                 "dp_implied": parallel["dp"]}
        if stated["micro_batch"] is None and stated["train_batch_size"]:
            # The micro-batch follows from the other two.
            if train["micro_batch"] * parallel["ga"] * parallel["dp"] != \
                    stated["train_batch_size"]:
                found["micro_batch"] = "wrong"
        return found

    def found(self, made):
        facts, job = self.facts, self.job
        train, parallel = made["train"], made["parallel"]
        optimizer = facts["optimizer"]
        known = OPTIMIZERS.get(optimizer)
        is_optimizer = train["optimizer"] == known if known \
            else job.warns(r"optimizer %s\b" % optimizer)
        found = self.batches(train, parallel)
        found.update({
            "zero": parallel["zero"], "precision": train["precision"],
            "optimizer": optimizer if is_optimizer else train["optimizer"],
            "tp": parallel["tp"], "ulysses": parallel["cp"],
            "zero_keys": {key: value
                          for key, value in facts["zero_keys"].items()
                          if self.has_key(key, value, parallel)},
            "overlap_comm_default": bool(
                parallel.get("overlap_grad_reduce", False)),
            "bf16_master_weights_and_grads":
                train["master_precision"] == "bf16"
                and train["grad_precision"] == "bf16",
            "bf16_optimizer_states": train["moment_precision"] == "bf16",
            "offload_optimizer": self.offloaded(train),
            "offload_param": facts.get("offload_param")
            if job.warns("offload_param") else "not named as lost",
        })
        for key in ("auto", "placeholders"):
            found[key] = [name for name in facts.get(key, [])
                          if job.warns(r"[ ,]%s[,;]" % name)]
        if isinstance(facts["zero"], str):
            found["zero"] = self.asks("zero", facts["zero"])
        if parallel["cp"] > 1 and parallel["cp_comm"] != "a2a":
            found["ulysses"] = "by %s" % parallel["cp_comm"]
        return found

    def offloaded(self, train):
        if not train["offload_optimizer"]:
            return None
        return "nvme" if self.job.warns("NVMe") else "cpu"


def unknown_facts(case, found):
    """Facts beyond those that a job has: named in a message, or an error."""
    wrong = []
    for name, want in case.facts.items():
        if name not in found and name not in OTHERS and want is not None \
                and not case.job.warns(name):
            wrong.append("nothing says %s = %r" % (name, want))
    return wrong


def configuration(folder):
    """The path of the file of DeepSpeed."""
    return next(os.path.join(folder, name)
                for name in sorted(os.listdir(folder))
                if name.endswith(".json") and name != "expected.json")


def compare(foretrace, temp, folder):
    case = importing.expected(folder)
    try:
        job = importing.Imported(foretrace, temp, "job", "deepspeed",
                                 configuration(folder))
    except importing.Refused as error:
        return None if "expect" in case else str(error)
    asked = Case(case, job)
    with open(job.path, "a") as file:
        file.write(MODEL)
    try:
        made = spec.of(foretrace, job.path, *asked.given())
    except spec.Failed as error:
        return str(error)
    found = asked.found(made)
    known = {name: want for name, want in asked.facts.items() if name in found}
    wrong = importing.differences(known, found) + unknown_facts(asked, found)
    if "world" not in job.params:
        wrong.append("does not ask for world")
    if not job.warns("model must be imported"):
        wrong.append("does not ask for a model")
    return "; ".join(wrong) or None


def compare_program(foretrace, temp, folder):
    """Returns the difference of the file's and its program's import, or None."""
    case = importing.expected(folder)
    want = case["facts"]["model_arguments"]
    arguments = os.path.join(folder, "args.txt")
    try:
        job = importing.Imported(foretrace, temp, "whole", "deepspeed",
                                 configuration(folder), arguments)
        given = import_megatron.given(want, job, case["facts"]["world"])
        made = spec.of(foretrace, job.path, *given)
    except (importing.Refused, spec.Failed) as error:
        return str(error)
    found = import_megatron.Facts(made, job, want).found
    wrong = importing.differences(
        {name: value for name, value in want.items() if name not in DECIDED},
        found)
    if made["parallel"]["zero"] != case["facts"]["zero"]:
        wrong.append("zero: got %d" % made["parallel"]["zero"])
    if made["parallel"]["world"] != case["facts"]["world"]:
        wrong.append("world: got %d" % made["parallel"]["world"])
    for item in case["ask"]:
        if item.split(":")[0] not in job.params:
            wrong.append("does not ask for %s" % item)
    return "; ".join(wrong) or None


def run_folder(foretrace, folder):
    """The file of a folder, and with it the arguments of a program."""
    with tempfile.TemporaryDirectory() as temp:
        results = [(folder, compare(foretrace, temp, folder))]
        if "model_arguments" in importing.expected(folder)["facts"]:
            results.append((os.path.join(folder, "args.txt"),
                            compare_program(foretrace, temp, folder)))
        return results
