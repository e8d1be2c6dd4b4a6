# SPDX-License-Identifier: Apache-2.0
"""What an instrumented Megatron-LM logs of a job's blocks, from its code: the
calls of one micro-batch, and which collective each of them is.

A call is (function, name, group, comm, shape, type, message); its message is
the (op, axes, bytes) of a collective that happens, or None: some calls are
logged of one rank, or do what a later core does otherwise. "R" in a shape is
the rows that a router sends.
"""

import collections

from job import BYTES

Call = collections.namedtuple(
    "Call", "function name group comm shape type message")

TORCH = {"bf16": "bfloat16", "fp16": "float16", "fp32": "float32"}
SIZES = {"bfloat16": 2, "float16": 2, "float32": 4, "int64": 8}
EXCHANGE = "_profiled_all_to_all_single"


class Traced:
    """The calls of one job in a dialect."""

    def __init__(self, job, dialect):
        self.job = job
        self.is_v1 = dialect == "v1"
        self.param = TORCH[job.precision]
        self.sequence = job.sequence // job.cp
        # Of the ranks that share tokens: sequence parallelism cuts samples.
        self.tokens = job.tokens
        self.stream = [self.sequence, job.micro_batch, job.hidden]

    def of(self, function, name, group, comm, shape, kind=None, message=None):
        return Call(function, name, group, comm, shape, kind or self.param,
                    message)

    def bytes(self, shape, kind=None):
        """With as many rows as a router sends if it sends all the same."""
        count = 1
        for size in shape:
            count *= (self.tokens * self.job.experts.topk if size == "R"
                      else size)
        return count * SIZES[kind or self.param]

    def summed(self, function, name, shape, kind=None, op=None):
        """A sum over tp, or what is a reduce-scatter to the IR."""
        op = op or ("reduce_scatter" if self.job.sp else "all_reduce")
        message = (op, ("tp",), self.bytes(shape, kind))
        return self.of(function, name, "tp", "allreduce", shape, kind,
                       message if self.job.tp > 1 else None)

    def batch(self, blocks):
        """What get_batch broadcasts, of whole samples."""
        if self.job.tp == 1 and self.is_v1 is False:
            return []
        b, s = self.job.micro_batch, self.job.sequence
        found = []
        if "embedding" in blocks:
            found.append(("tokens", [b, s], "int64"))
        if "head" in blocks:
            found += [("labels", [b, s], "int64"),
                      ("loss_mask", [b, s], "float32")]
        found.append(("attention_mask", [b, 1, s, s], "bool"))
        if "embedding" in blocks:
            found.append(("position_ids", [b, s], "int64"))
        return [self.of("_broadcast" if self.is_v1 else "broadcast_wrapper",
                        name, "tp", "broadcast", shape, kind)
                for name, shape, kind in found]

    # --- blocks ------------------------------------------------------------

    def forward(self, block):
        if block == "embedding":
            return self.embedding()
        if block == "head":
            return self.cross_entropy()
        calls = self.linear_forward()
        if block == "moe":
            return calls + self.experts_forward()
        return calls + self.linear_forward()

    def backward(self, block):
        if block == "embedding":
            return []
        if block == "head":
            return self.output_layer()
        again = self.forward(block) if self.job.recompute == "full" else []
        calls = (self.experts_backward() if block == "moe"
                 else self.linear_backward())
        return again + calls + self.linear_backward()

    def embedding(self):
        if self.job.tp == 1 and not self.is_v1:
            return []
        s, b, h = self.stream
        # Positions are added to whole sums.
        is_cut = self.job.sp and self.job.positions != "learned"
        return [self.summed("_reduce" if self.is_v1 else "reduce_wrapper",
                            "embedding_fwd", [b, s, h], None,
                            "reduce_scatter" if is_cut else "all_reduce")]

    def linear_forward(self):
        """Of attention's output, or the network's."""
        if self.job.tp == 1 or self.job.sp:
            return []
        return [self.summed("allreduce", "linear_fwd",
                            [self.tokens, self.job.hidden])]

    def linear_backward(self):
        if self.job.tp == 1 or self.job.sp:
            return []
        shape = [self.tokens, self.job.hidden]
        if self.is_v1:
            return [self.summed("normlinear_bwd_async", "normlinear_bwd",
                                shape)]
        return [self.summed("allreduce", "normlinear_bwd_allreduce", shape)]

    def cross_entropy(self):
        if self.job.tp == 1 and not self.is_v1:
            return []
        return [self.summed("_reduce" if self.is_v1 else "reduce_wrapper",
                            f"crossEntropy_fwd_{n}", self.stream[:2],
                            "float32", "all_reduce") for n in (1, 2, 3)]

    def output_layer(self):
        if self.job.tp == 1:
            call = self.of("_reduce", "", "tp", "allreduce", self.stream)
            return [call] if self.is_v1 else []
        if self.is_v1:
            call = self.summed("embedding_bwd_async", "embedding_bwd_async",
                               self.stream)
            return [] if self.job.sp else [call]
        call = self.summed("allreduce_wrapper", "embedding_bwd_allreduce",
                           self.stream)
        # A defect: reduced once more, before the scatter, which is not logged.
        return [call._replace(message=None) if self.job.sp else call]

    # --- experts -----------------------------------------------------------

    def experts_forward(self):
        if self.is_v1:
            return []
        if self.job.experts.dispatcher == "allgather":
            return self.gathered_forward()
        counts = [] if self.job.ep == 1 else [self.of(
            "_gather_along_first_dim_expert_parallel",
            "gather_along_first_dim_expert_parallel", "exp", "allgather",
            [self.job.experts.count], "int64", self.counts())]
        return (counts + self.channels() + [self.exchanged(self.copies())]
                + self.whole() + [self.exchanged("R")] + self.channels())

    def counts(self):
        axes, ranks = self.among()
        return "all_gather", axes, 8 * self.job.experts.count * ranks

    def experts_backward(self):
        if self.is_v1:
            return []
        if self.job.experts.dispatcher == "allgather":
            return self.gathered_backward()
        scores = [] if self.job.tp == 1 else [self.of(
            "_reduce_scatter_along_first_dim", "", "tp", "reduce_scatter",
            [self.tokens, self.job.experts.count])]
        return (self.channels() + [self.exchanged(self.copies())]
                + self.whole(is_backward=True) + [self.exchanged("R")] + self.channels()
                + scores)

    def copies(self):
        return self.tokens * self.job.experts.topk

    def channels(self):
        """Tokens for channels within tp, or back: the IR has no such thing."""
        if self.job.tp == 1:
            return []
        return [self.of(EXCHANGE, "", "tp", "all_to_all",
                        [self.tokens, self.job.hidden // self.job.tp])]

    def exchanged(self, rows):
        shape = [rows, self.job.hidden // self.job.tp]
        message = ("all_to_all", ("ep",), self.bytes(shape))
        return self.of(EXCHANGE, "", "exp", "all_to_all", shape, None,
                       message if self.job.ep > 1 else None)

    def whole(self, is_backward=False):
        """Channels of the received rows, gathered, and scattered as sums. The IR sends
        results and their gradient in the type of the router."""
        if self.job.tp == 1:
            return []
        part = ["R", self.job.hidden // self.job.tp]
        turned = [self.job.hidden, "R"]
        types = [TORCH[self.job.experts.precision], None]
        results = types if is_backward else types[::-1]
        return [
            self.of("_gather_along_last_dim", "", "tp", "allgather", part,
                    None, ("all_gather", ("etp",),
                           self.bytes(part, results[0]) * self.job.tp)),
            self.of("_reduce_scatter_along_first_dim", "", "tp",
                    "reduce_scatter", turned, None,
                    ("reduce_scatter", ("etp",), self.bytes(turned, results[1])))]

    # --- experts that get all tokens ---------------------------------------

    def among(self):
        """The axes over which tokens are gathered, and how many ranks."""
        axes = tuple(a for a in ("etp", "ep") if getattr(self.job, a) > 1)
        return axes, self.job.size(axes)

    def gather(self, columns, kind=None, size=None):
        axes, ranks = self.among()
        shape = [self.job.local, columns]
        return self.of("_gather_along_first_dim_moe", "", "exp", "allgather",
                       shape, kind, ("all_gather", axes, ranks * (
                           size or self.bytes(shape, kind))))

    def scatter(self, columns, size=None):
        axes, ranks = self.among()
        shape = [self.job.local * ranks, columns]
        return self.of("_reduce_scatter_along_first_dim_moe", "", "exp",
                       "reduce_scatter", shape, None,
                       ("reduce_scatter", axes, size or self.bytes(shape)))

    def scores(self):
        """Of all experts, which the IR sends; the fork sends the chosen."""
        e = self.job.experts
        return (self.job.local * e.count * SIZES[TORCH[e.precision]],
                self.job.local * e.count)

    def gathered_forward(self):
        _, ranks = self.among()
        if ranks == 1:
            return []
        e = self.job.experts
        scores, choices = self.scores()
        probabilities = [self.gather(e.topk, None, scores)]
        return ([self.gather(e.topk, "int64", choices)]
                + (probabilities if e.topk > 1 else [])
                + [self.gather(self.job.hidden)] + self.biases()
                + [self.scatter(self.job.hidden, self.combined() * ranks)])

    def combined(self):
        """Results of experts are summed in the type of the router."""
        return self.job.local * self.job.hidden * BYTES[self.job.experts.precision]

    def biases(self):
        """Are scattered apart; the IR adds them before."""
        return ([self.scatter(self.job.hidden)._replace(message=None)]
                if self.job.bias else [])

    def gathered_backward(self):
        _, ranks = self.among()
        if ranks == 1:
            return []
        e = self.job.experts
        probabilities = [self.scatter(e.topk, self.scores()[0] * ranks)]
        return ([self.gather(self.job.hidden, None, self.combined()),
                 self.scatter(self.job.hidden)]
                + (probabilities if e.topk > 1 else []))
