# SPDX-License-Identifier: Apache-2.0
"""What layers of random jobs keep for their backward pass: words of blocks, and
numbers of layers of a chunk."""

import re

from tool import with_keys


class Kept:
    """Changes the text of a job by chance, and knows layer by layer what that
    means. Blocks of their own recompute one of kinds."""

    def __init__(self, text, rng, kinds=("none", "selective", "full")):
        self.kinds = kinds
        self.recompute = re.search(r"recompute = (\w+)", text)[1]
        self.own, self.own_offload = {}, {}
        self.first = self.first_offload = None
        self.offload = False
        self.blocks = re.findall(r"block (\w+) {", text)
        if rng.random() < .5:
            text = self.choose_recompute(text, rng)
        if (re.search(r"\bpp = 1\b", text) and self.is_all_kept()
                and rng.random() < .5):
            text = self.choose_offload(text, rng)
        self.text = text

    def is_all_kept(self):
        return {self.recompute, *self.own.values()} == {"none"}

    def choose_recompute(self, text, rng):
        if rng.random() < .5:
            text = text.replace(f"recompute = {self.recompute}",
                                "recompute = full", 1)
            self.recompute = "full"
        for block in self.blocks:
            if rng.random() < .4:
                self.own[block] = rng.choice(self.kinds)
                text = with_keys(text, f"block {block}", recompute=self.own[block])
        if self.recompute == "full" and rng.random() < .7:
            self.first = rng.choice((1, 1, 2, 3))
            text = with_keys(text, "train", recompute_num_layers=self.first)
        return text

    def choose_offload(self, text, rng):
        for block in self.blocks:
            if rng.random() < .3:
                self.own_offload[block] = rng.random() < .7
                text = with_keys(text, f"block {block}", offload_activations=self.own_offload[block])
        self.offload = rng.random() < .7
        if self.offload:
            text = with_keys(text, "train", offload_activations=True)
            if rng.random() < .6:
                self.first_offload = rng.randint(1, 2)
                text = with_keys(text, "train", offload_num_layers=self.first_offload)
        return text

    def recompute_of(self, block, index):
        """The word for layer `index` of a chunk."""
        if block in self.own:
            return self.own[block]
        is_out = self.first is not None and index >= self.first
        return "none" if is_out else self.recompute

    def is_offloaded(self, block, index):
        if block in self.own_offload:
            return self.own_offload[block]
        is_out = self.first_offload is not None and index >= self.first_offload
        return self.offload and not is_out


def block_of(name):
    """The block of the job behind `dense_recomputed`."""
    return re.sub("_(recomputed|offloaded)_*$", "", name)
