# SPDX-License-Identifier: Apache-2.0
"""Counts the bytes of the tensors of a rank of Megatron-LM.

After the step of the logged iteration: weights, gradients, and tensors of the optimizer,
and the storages of weights and gradients, which include the padding of buffers. At the end
of the first forward pass of each chunk: the storages that it has saved, without those of
parameters and buffers.
"""

import csv
import pathlib
import weakref

import torch

import call_log

COLUMNS = "rank chunk weights weight_storage gradients gradient_storage optimizer saved".split()
# Buffers of YarnRotaryEmbedding.
TABLES = {"cos_cached", "sin_cached"}


def bytes_of(tensors):
    return sum(each.numel() * each.element_size() for each in tensors)


def storages_of(tensors):
    """{address: bytes}"""
    return {each.untyped_storage().data_ptr(): each.untyped_storage().nbytes()
            for each in tensors}


def weights_of(model):
    """Lists parameters, and buffers except tables of cosines and sines."""
    # Megatron-LM's wrapper of a model has an attribute `buffers`.
    buffers = torch.nn.Module.named_buffers(model)
    return [*model.parameters(),
            *(each for name, each in buffers if name.split(".")[-1] not in TABLES)]


def gradients_of(model):
    found = (getattr(each, "main_grad", None) for each in model.parameters())
    return [each if each is not None else parameter.grad
            for each, parameter in zip(found, model.parameters())]


def torch_optimizers(optimizer):
    """Lists the optimizers of torch in one of Megatron-LM."""
    for each in getattr(optimizer, "chained_optimizers", [optimizer]):
        if getattr(each, "optimizer", None) is not None:
            yield each.optimizer


def optimizer_tensors(optimizer, weights):
    """Lists moments and main parameters, but not the model's own parameters."""
    for each in torch_optimizers(optimizer):
        for group in each.param_groups:
            for parameter in group["params"]:
                if parameter.untyped_storage().data_ptr() not in weights:
                    yield parameter
        for state in each.state.values():
            yield from (value for name, value in state.items() if name != "step")


class Packed:
    """A tensor that the graph of the backward pass owns."""

    def __init__(self, tensor):
        self.tensor = tensor


class Memory:
    """Counted bytes of a rank."""

    def __init__(self):
        self.rows, self.saved = [], {}
        # Whether the job has whole tensors, which FSDP has not.
        self.is_on = True

    def is_counted(self):
        return self.is_on and call_log.LOG.iteration == call_log.ITERATION

    def forward(self, model, step):
        """Performs a forward pass. Counts what the first one of a chunk saves."""
        if not self.is_counted() or model in self.saved:
            return step()
        owned = weakref.WeakSet()

        def pack(tensor):
            packed = Packed(tensor)
            owned.add(packed)
            return packed
        with torch.autograd.graph.saved_tensors_hooks(pack, lambda packed: packed.tensor):
            result = step()
        weights = storages_of([*model.parameters(), *torch.nn.Module.buffers(model)])
        storages = storages_of(each.tensor for each in owned)
        self.saved[model] = sum(size for address, size in storages.items()
                                if address not in weights)
        return result

    def count(self, models, optimizer):
        """Counts what is left after the step. The optimizer is that of all chunks."""
        if not self.is_counted():
            return
        weights = storages_of(each for model in models for each in weights_of(model))
        for chunk, model in enumerate(models):
            gradients = gradients_of(model)
            self.rows.append({
                "rank": torch.distributed.get_rank(), "chunk": chunk,
                "weights": bytes_of(weights_of(model)),
                "weight_storage": sum(storages_of(weights_of(model)).values()),
                "gradients": bytes_of(gradients),
                "gradient_storage": sum(storages_of(gradients).values()),
                "optimizer": bytes_of(optimizer_tensors(optimizer, weights))
                if not chunk else 0,
                "saved": self.saved[model]})

    def save(self, folder):
        path = pathlib.Path(folder) / f"memory{torch.distributed.get_rank()}.csv"
        with open(path, "w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
            writer.writeheader()
            writer.writerows(self.rows)


MEMORY = Memory()
