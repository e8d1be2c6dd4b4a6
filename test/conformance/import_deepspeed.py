# SPDX-License-Identifier: Apache-2.0
"""Imports configurations of DeepSpeed, and compares what the jobs mean. The files have no
model and no ranks, so a small model and the ranks are added."""
import os

import import_megatron
import tool
from importing import Imported, differences, expected, named, not_asked, verdict

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
        return tool.defined({name: values[name] for name in self.job.params})

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
        found = {**named(train, "train_batch_size=global_batch micro_batch"),
                 **named(parallel, "gradient_accumulation=ga dp_implied=dp")}
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
            **named(parallel, "zero tp ulysses=cp"), "precision": train["precision"],
            "optimizer": optimizer if is_optimizer else train["optimizer"],
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


def compare(folder):
    case = expected(folder)
    try:
        job = Imported("deepspeed", configuration(folder))
    except tool.Failed as error:
        if "expect" not in case:
            yield str(error)
        return
    asked = Case(case, job)
    job.text += MODEL
    found = asked.found(job.spec(*asked.given()))
    known = {name: want for name, want in asked.facts.items() if name in found}
    yield from differences(known, found)
    yield from unknown_facts(asked, found)
    if "world" not in job.params:
        yield "does not ask for world"
    if not job.warns("model must be imported"):
        yield "does not ask for a model"


def compare_program(folder):
    """The differences of the file's and its program's import."""
    case = expected(folder)
    want = case["facts"]["model_arguments"]
    job = Imported("deepspeed", configuration(folder), os.path.join(folder, "args.txt"))
    made = job.spec(*import_megatron.given(want, job, case["facts"]["world"]))
    found = import_megatron.Facts(made, job, want).found
    yield from differences(
        {name: value for name, value in want.items() if name not in DECIDED}, found)
    yield from differences({key: case["facts"][key] for key in ("zero", "world")},
                           made["parallel"])
    yield from not_asked(case, job)


def run_folder(folder):
    """The file of a folder, and with it the arguments of a program."""
    yield folder, verdict(compare, folder)
    if "model_arguments" in expected(folder)["facts"]:
        yield os.path.join(folder, "args.txt"), verdict(compare_program, folder)
