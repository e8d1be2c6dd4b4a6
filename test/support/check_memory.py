# SPDX-License-Identifier: Apache-2.0
"""usage: check_memory.py SEED COUNT

Runs the stages of random jobs step by step and layer by layer, with every tensor
from the op that makes it to the last one that reads it, and compares the most that
is there at once with what `foretrace memory` and the figures of the job say of each
kind of stage."""

import re

import tool
import unfold_ranks
import units
from ftir import BYTES, TYPE
from kept import Kept, block_of
from random_jobs import random_modules

LINE = re.compile(r"  ((?:%\S+(?:, )?)+) = (\w+)(?:\.(dgrad|wgrad))?(?:\([^)]*\))? "
                  r"@\S+ ?(.*?) : ")
GRADIENT = re.compile(r"grad\(%([^)]*)\)")
# Beside parts of tensors and sums. The gradient of the loss is written over the
# softmax (Megatron-LM, tensor_parallel/cross_entropy.py, backward).
IN_PLACE = ("bias_add", None), ("loss", "dgrad")
# What jobs are refused for that the changes here make.
LIMITS = ("[recompute-module]", "below the model's", "[megatron-too-old]",
          "[kv-heads-indivisible]", "keys and values have different widths")
HALVES = ("backward_input", "backward_weight")


class Memory(unfold_ranks.Job):
    """What is in memory while a block runs, op by op."""

    def __init__(self, text):
        self.ops, self.params, self.inputs, self.gradients = {}, {}, {}, {}
        super().__init__(text)
        self.is_fused = "fused_wgrad = true" in text
        self.is_shifted = 'megatron = "0.7"' in text
        self.is_by_op = "recompute = op" in text
        self.zero = int(re.search(r"    zero = (\d)", text)[1])
        said = re.search(r"zero_prefetch = (\d+)", text)
        self.prefetch = int(said[1]) if said else None
        self.units = {block: self.unit(block) for block in self.ops}
        self.moments = {block: self.run(block) for block in self.ops}

    def read(self, line, block, values):
        super().read(line, block, values)
        words = line.split()
        ops = self.ops.setdefault(block, [])
        names = lambda text: re.findall(r"%([^\s,]+)", text)
        if words[0] == "param":
            self.params.setdefault(block, set()).add(words[1][1:])
        elif words[0] == "input":
            self.inputs.setdefault(block, []).append(words[1][1:])
        elif match := LINE.match(line):
            made, kind, derivative, read = match.groups()
            rest = line[match.end():]
            phase = re.search(r" (recompute|backward|step)(?: |$)", rest)
            ops.append((phase[1] if phase else "forward", kind, derivative,
                        names(read), names(made)))
            parts = re.split(TYPE, rest)[4::4]
            for name, part in zip(names(made), parts):
                if of := GRADIENT.search(part):
                    self.gradients[block, name] = of[1]

    def is_matrix(self, block, name):
        dims = re.match(TYPE, self.values[block][name])[2]
        kinds = [d.split(":")[0] for d in dims.split()]
        return (len(kinds) == 2 + ("expert" in kinds)
                and not {"vocab", "position"} & set(kinds))

    def size(self, block, name):
        """A gradient of a parameter is of its type until it is summed up."""
        text = self.values[block][name]
        of = self.gradients.get((block, name))
        if of not in self.params.get(block, ()):
            return self.bytes(text)
        if self.is_fused and self.is_matrix(block, of):
            return 0
        element, own = (re.match(TYPE, self.values[block][v])[1]
                        for v in (name, of))
        return self.bytes(text) // BYTES[element] * BYTES[own]

    def unit(self, block):
        """What ranks share of a block with ZeRO 2 and 3: gradients have shares."""
        types = {of: self.values[block][name]
                 for (b, name), of in self.gradients.items()
                 if b == block and of in self.params.get(block, ())
                 and "flat(" in self.values[block][name]}
        elements, element = [0, 0], "fp32"
        for of, text in types.items():
            element = re.match(TYPE, text)[1]
            whole = re.sub(r" flat\([^)]*\)", "", text)
            elements["expert:" not in text] += self.bytes(whole) // BYTES[element]
        stored = re.match(TYPE, self.values[block][next(iter(types))])[1] \
            if types else "fp32"
        return units.Unit(block not in ("embedding", "head"), tuple(elements),
                          BYTES[stored] * (self.zero == 3), BYTES[element])

    def run(self, block):
        """(kept, most beside the rest of the micro-batch forward, backward)."""
        ops = self.ops[block]
        home = {}

        def root(name):
            while name in home:
                name = home[name]
            return name

        params = self.params.get(block, ())
        shares = {name for (b, name), of in self.gradients.items()
                  if b == block and of in params}
        for _, kind, derivative, read, made in ops:
            # Of whole weights and of shares there is more to say than of tensors.
            if kind == "all_gather" and read[0] in params or (
                    kind == "reduce_scatter" and read[0] in shares):
                home[made[0]] = root(read[0])
                continue
            if kind not in ("all_reduce", "broadcast", "split", "view", "exchange") and (
                    kind, derivative) not in IN_PLACE:
                continue
            parts, whole = (read, made) if derivative == "dgrad" else (made, read)
            for part in parts:
                if root(part) != root(whole[0]):
                    home[root(part)] = root(whole[0])
        turn = next((i for i, op in enumerate(ops) if op[0] != "forward"),
                    len(ops))
        _, outputs, d_outputs, d_inputs = (
            self.signatures.get(block, []) + [[]] * 4)[:4]
        lives = {}

        def use(name, at):
            if root(name) not in params:
                first, last = lives.get(root(name), (at, at))
                lives[root(name)] = (min(first, at), max(last, at))

        for name in self.inputs.get(block, []):
            use(name, -1)
        for at, (_, _, _, read, made) in enumerate(ops):
            for name in (d_outputs if at == turn else []) + read + made:
                use(name, at)
        for name in outputs:
            use(name, turn - 1)
        for name in d_inputs:
            use(name, len(ops) - 1)
        sizes = {name: self.size(block, name) for name in lives}
        if self.is_shifted:
            self.shift_logits(block, lives, sizes, root)
        self.save_mask(block, lives)
        live = [sum(sizes[name] for name, (first, last) in lives.items()
                    if first <= at <= last) for at in range(len(ops))]
        unit = self.unit(block)
        is_made = False
        for at, (_, _, derivative, _, _) in enumerate(ops):
            is_made = is_made or derivative == "wgrad"
            live[at] += is_made * unit.elements * unit.gradient
        kept = sum(sizes[name] for name, (first, last) in lives.items()
                   if first < turn <= last)
        return kept, max(live[:turn], default=0), max(live[turn:], default=0)

    def save_mask(self, block, lives):
        """A checkpoint with attention in it saves the mask, an argument, until its
        backward (Megatron-LM, tensor_parallel/random.py, CheckpointFunction;
        torch/utils/checkpoint.py)."""
        again = {op[1] for ops in self.ops.values() for op in ops
                 if op[0] == "recompute"}
        masks = [name for name in lives if name.startswith("attention_mask")]
        if masks and (self.is_by_op or "attention" in again):
            lives[masks[-1]] = (lives[masks[-1]][0], len(self.ops[block]) - 1)

    def shift_logits(self, block, lives, sizes, root):
        """Core 0.7 subtracts the maximum into a tensor of its own, and has the
        logits and their fp32 copy until the loss is there (Megatron-LM,
        tensor_parallel/cross_entropy.py, forward)."""
        kinds = [(op[1], op[2]) for op in self.ops[block]]
        if ("loss", None) not in kinds:
            return
        loss = kinds.index(("loss", None))
        reduce = max(i for i, kind in enumerate(kinds) if kind == ("reduce", None))
        shifted = root(self.ops[block][reduce][3][0])
        for name, (first, last) in lives.items():
            text = re.match(TYPE, self.values[block][name])[2]
            if "seq:" in text and "vocab:" in text and first < loss:
                lives[name] = (first, max(last, loss))
        lives["shifted"], sizes["shifted"] = (reduce, loss), sizes[shifted]

    def layers(self, blocks):
        """(index, block, whether it is a layer) of each; the embedding and the
        head are none."""
        index = 0
        for block in blocks:
            is_layer = block not in ("embedding", "head")
            yield index, block, is_layer
            index += is_layer

    def check_recomputed(self, stage, said):
        """Whether each layer is computed again as the job says."""
        for blocks in self.chunks[stage]:
            for index, block, is_layer in self.layers(blocks):
                phases = [op[0] for op in self.ops[block]]
                again, all_ops = (phases.count(p) for p in
                                  ("recompute", "forward"))
                # Counts for an auxiliary loss are made then, and only then.
                first = sum(op[0] == "recompute" and "tokens_per_expert" in op[4][0]
                            and ".again" not in op[4][0] for op in self.ops[block])
                word = (said.recompute_of(block_of(block), index)
                        if is_layer else "none")
                assert {"none": again == 0, "full": again == all_ops + first,
                        "selective": again < all_ops,
                        "op": 0 < again < all_ops}[word], (block, index)

    def kept(self, blocks, said):
        """Of each layer: (on the rank, in the memory of the host)."""
        for index, block, is_layer in self.layers(blocks):
            size = self.moments[block][0]
            is_away = is_layer and said.is_offloaded(block_of(block), index)
            yield (0, size) if is_away else (size, 0)

    def offloaded(self, stage, said):
        """Of a micro-batch, in all chunks."""
        return sum(away for blocks in self.chunks[stage]
                   for _, away in self.kept(blocks, said))

    def most_saved(self, stage, said):
        """The most bytes that micro-batches have saved on the rank at any time."""
        kept = [sum(here for here, _ in self.kept(blocks, said))
                for blocks in self.chunks[stage]]
        now = most = 0
        for _, kind, _, chunk, _, _ in self.schedule.unfold(stage):
            now += kept[chunk] * {"forward_step": 1,
                                  "backward_step": -1}.get(kind, 0)
            most = max(most, now)
        return most

    def most(self, stage, said):
        """Of all that micro-batches need, at any time, and whether no more than
        that is to be said: of unlike layers ZeRO's units are as the heaviest."""
        chunks = [[self.units[block] for block in blocks]
                  for blocks in self.chunks[stage]]
        waiting = [units.waiting(chunk, self.prefetch, self.zero == 3)
                   for chunk in chunks]
        ends = sum(unit.elements * unit.weight for chunk in chunks
                   for unit in chunk if not unit.is_layer)
        is_alike = self.zero < 2 or all(
            map(units.is_alike, self.chunks[stage], chunks))
        kept = {chunk: sum(here for here, _ in self.kept(blocks, said))
                for chunk, blocks in enumerate(self.chunks[stage])}
        now = most = 0
        for _, kind, _, chunk, _, _ in self.schedule.unfold(stage):
            if kind not in ("forward_step", "backward_step"):
                continue
            is_forward = kind == "forward_step"
            rest = now if is_forward else now - kept[chunk]
            blocks, before = self.chunks[stage][chunk], 0
            # Those that ran before keep what they do.
            for at, (own, _) in enumerate(self.kept(blocks, said)):
                _, forward, backward = self.moments[blocks[at]]
                unit = chunks[chunk][at]
                more = ends
                if unit.is_layer:
                    more += unit.elements * unit.weight + units.ahead(
                        chunks[chunk], at, 1 if is_forward else -1, self.prefetch)
                if not is_forward:
                    more += waiting[chunk][at]
                most = max(most, rest + before + more +
                           (forward if is_forward else backward))
                before += own
            now = now + kept[chunk] if is_forward else rest
        assert now == 0, stage
        return most, is_alike


def compile_job(case):
    """(what layers keep, IR) of a job of some ranks that does not split backward
    steps."""
    draw = case.draw
    while True:
        text, ir = unfold_ranks.compile_some(case)
        if modules := random_modules(text, draw):
            text = text.replace(
                "recompute = selective",
                f'recompute = selective  recompute_modules = "{modules}"  '
                f"transformer_impl = {draw.choice(('transformer_engine', 'local'))}")
        if draw.random() < .3:
            text = tool.with_keys(text, "train", fused_wgrad=True)
        if draw.random() < .3:
            text = tool.with_keys(text, "parallel", megatron=draw.choice(('"0.7"', '"0.12"')))
        if draw.random() < .7:
            text = tool.with_keys(text, "parallel", zero_prefetch=draw.randint(0, 3))
        said = Kept(text, draw, ("none", "selective", "op", "full"))
        if not ir or any(half in ir for half in HALVES):
            continue
        done = tool.attempt("compile", case.write(said.text), "--emit=ir", "--stdout", "--quiet")
        if any(limit in done.stderr for limit in LIMITS):
            continue
        assert done.returncode == 0, done.stderr
        return said, done.stdout


def check(case):
    kept, ir = compile_job(case)
    job = Memory(ir)
    said = tool.document("memory", case.job)
    peaks, static = [], {}
    for row in said["stages"]:
        always = sum(row[kind] for kind in
                     ("weights", "gradients", "optimizer", "dummy_wgrads"))
        for stage in tool.each(row["stages"]):
            job.check_recomputed(stage, kept)
            most, is_exact = job.most(stage, kept)
            peak = always + max(most, row["update"])
            peaks.append(peak)
            static[stage] = always, row["dummy_wgrads"]
            if not is_exact and peak <= row["peak"] <= 1.2 * peak:
                peaks[-1] = row["peak"]
                continue
            is_update = row["when"].startswith("update")
            what = stage, most, row
            assert row.get("offloaded", 0) == job.offloaded(stage, kept), what
            assert row["peak"] == peak and is_update == (row["update"] > most), what
            assert is_update or row["saved"] + row["running"] == most, what
    assert said["peak"] == max(peaks), (said["peak"], peaks)
    for kind in tool.plan(case.job)["stages"]:
        stages = tool.each(kind["stages"])
        saved = max(job.most_saved(stage, kept) for stage in stages)
        always, dummies = static[stages[0]]
        expected = {"activations": saved, "dummy_wgrads": dummies,
                    "static": always, "static_and_saved": always + saved,
                    "peak": max(peaks[stage] for stage in stages)}
        expected["dynamic"] = expected["peak"] - always
        figures = {name: kind[name] for name in expected}
        assert figures == expected, (stages, figures, expected)


tool.cases(check)
