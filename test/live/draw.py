# SPDX-License-Identifier: Apache-2.0
"""Options of a random job of Megatron-LM while it is drawn, and the releases."""

RELEASES = {"core_v0.10.0": 10, "core_v0.11.0": 11, "core_v0.12.0": 12, "core_v0.13.1": 13,
            "core_v0.15.3": 15, "core_v0.16.1": 16, "core_v0.17.1": 17, "core_v0.18.2": 18,
            "core_v0.19.0": 19}
# First release with an option. Other options are older than 0.10.
SINCE = {
    "--account-for-embedding-in-pipeline-split": 11, "--account-for-loss-in-pipeline-split": 11,
    "--attention-output-gate": 16,
    "--cross-entropy-fusion-impl": 12, "--ddp-num-buckets": 12, "--grad-reduce-in-bf16": 12,
    "--ddp-pad-buckets-for-high-nccl-busbw": 12, "--moe-router-dtype": 12,
    "--moe-router-enable-expert-bias": 11, "--moe-router-group-topk": 11,
    "--moe-router-score-function": 11, "--moe-router-topk-scaling-factor": 11,
    "--moe-shared-expert-gate": 16, "--mtp-num-layers": 12, "--num-experts": 11,
    "--num-virtual-stages-per-pipeline-rank": 11, "--pipeline-model-parallel-layout": 13,
    "--recompute-modules": 12, "--rope-type": 15, "--use-megatron-fsdp": 15}
# Arguments that a run on a CPU needs. It has two iterations.
ALWAYS = """--distributed-backend gloo --transformer-impl local --tokenizer-type NullTokenizer
--dataloader-type external --train-iters 2 --lr 1e-4 --eval-iters 0 --eval-interval 1000
--log-interval 1 --distributed-timeout-minutes 3 --no-masked-softmax-fusion
--no-gradient-accumulation-fusion --no-persist-layer-norm --no-bias-dropout-fusion
--no-bias-gelu-fusion --no-bias-swiglu-fusion --no-rope-fusion""".split()


class Draw:
    """A job of Megatron-LM while it is drawn."""

    def __init__(self, rng, release):
        self.rng, self.release = rng, release
        self.arguments = list(ALWAYS)
        self.tp = self.cp = self.pp = self.vpp = self.dp = self.ep = self.etp = 1
        self.is_sequence_parallel = self.has_experts = self.is_fsdp = False
        self.hidden = self.sequence = self.micro_batch = self.layers = self.mtp = 0
        # Layers of each chunk, if they are known to be equal.
        self.each = 1
        self.is_large = False

    def chance(self, probability):
        return self.rng.random() < probability

    def has(self, option):
        return SINCE.get(option, 0) <= self.release

    def add(self, option, *values):
        """Adds an option, and returns whether the release has it."""
        if self.has(option):
            self.arguments += [option, *map(str, values)]
        return self.has(option)

    def maybe(self, probability, option, *values):
        return self.chance(probability) and self.add(option, *values)

    def is_set(self, option):
        return option in self.arguments

    @property
    def world(self):
        return self.tp * self.cp * self.pp * self.dp


def divisors(number):
    return [each for each in range(1, number + 1) if number % each == 0]
