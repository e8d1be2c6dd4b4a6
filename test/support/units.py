# SPDX-License-Identifier: Apache-2.0
"""Weights and gradients of a model chunk as Megatron-FSDP has them in memory,
bucket by bucket (distributed/fsdp/src/megatron_fsdp/param_and_grad_buffer.py):
gathered ahead as AllGatherPipeline.all_gather_params does, and waiting to be
reduced as in GradReducePipeline.reduce_gradients."""

import dataclasses

LEAST = 10**9  # megatron_fsdp.py, suggested_communication_unit_size


@dataclasses.dataclass
class Unit:
    """A layer, or what is in no layer: elements that ranks share, of experts
    and of all else, and bytes of each."""
    is_layer: bool
    buckets: tuple  # in the order in which their gradients are made
    weight: int     # 0 if weights are not shared
    gradient: int

    @property
    def elements(self):
        return sum(self.buckets)


def mean_elements(units):
    layers = [unit.elements for unit in units if unit.is_layer]
    return sum(layers) // max(len(layers), 1)


def unit_size(units, is_zero_3):
    """suggested_communication_unit_size (megatron_fsdp.py)."""
    return max(LEAST, 2 * mean_elements(units)) if is_zero_3 else LEAST


def ahead(units, at, step, prefetch):
    """Bytes of the weights of layers that are gathered while one runs."""
    size = layers = 0
    found = 0
    for unit in units[at + step:: step] if at + step >= 0 else ():
        if not unit.is_layer or not unit.elements or (
                layers >= prefetch if prefetch is not None
                else size >= unit_size(units, True) // 2):
            break
        layers += 1
        size += unit.elements
        found += unit.elements * unit.weight
    return found


def waiting(units, prefetch, is_zero_3):
    """Bytes of gradients of others, at most while each unit runs backward."""
    queue, most = [], [0] * len(units)
    capacity = (unit_size(units, is_zero_3) if prefetch is None
                else 2 * prefetch * mean_elements(units))
    for at in reversed(range(len(units))):
        unit = units[at]
        experts, rest = unit.buckets
        before = sum(size for _, size in queue)
        for bucket in filter(None, unit.buckets):
            while sum(size for _, size in queue) > capacity:
                queue.pop(0)
            if bucket == experts and rest:  # made before the rest of the layer
                before = max(before - rest, sum(size for _, size in queue))
            queue.append((at, bucket))
        most[at] = before * unit.gradient
    return most


def is_alike(blocks, units):
    """Whether the closed form is exact: layers are all the same, and those with
    experts have no head before them."""
    layers = {(b, u.buckets) for b, u in zip(blocks, units) if u.is_layer}
    return len(layers) <= 1 and (
        units[-1].is_layer or all(0 in buckets for _, buckets in layers))
