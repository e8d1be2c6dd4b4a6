# SPDX-License-Identifier: Apache-2.0
#
# The two sample tables, written down row by row from their descriptions and
# not from a job, to compare with.
"""usage: samples.py (dense | adapted)"""

import sys

HEADER = ("HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: {} "
          "ep: {} pp: {}{} ga: {} all_gpus: {} checkpoints: 0 "
          "checkpoint_initiates: 0{}")
NONE = ("NONE", 0)


def row(name, times, forward=NONE, backward=NONE, update=NONE):
    """Twelve fields."""
    cells = [(time, *message) for time, message in
             zip(times, (forward, backward, update))]
    return [name, -1, *(field for cell in cells for field in cell), 100]


def tensor_parallel(kind, time, message, lost):
    """A column (gathers) or a row (scatters) of timed tables."""
    forward, backward = (("ALLGATHER", message), ("REDUCESCATTER", lost))
    if kind == "row":
        forward, backward = (("REDUCESCATTER", message), ("ALLGATHER", message))
    return times_of(time), forward, backward


def times_of(time):
    """The same time in three columns, or three times."""
    return time if isinstance(time, tuple) else (time,) * 3


def dense():
    """557 rows: Llama 405B's preset on 1,024 GPUs."""
    parameters = 3_200_516_096
    message = 2 * 4096 * 16384
    attention, mlp = 5729721, 10557776 // 2
    rows = [
        row("grad_gather", (1, 1, 1), update=("ALLGATHER", 2 * parameters)),
        row("grad_param_comm", (1, 1, 1),
            update=("REDUCESCATTER", 4 * parameters)),
        row("grad_param_compute", (1, 1875968 + 1879040, 1)),
        row("embedding_grads", (1, 1, 1), backward=("ALLREDUCE", message)),
        row("moe_grad_norm1", (1, 1, 1), update=("ALLGATHER_DP_EP", 0)),
        row("moe_grad_norm2", (1, 1, 1), update=("REDUCESCATTER_DP_EP", 0)),
    ]
    half = attention // 2
    for micro_batch in range(16):
        left_over = half if micro_batch else 1879040
        rows.append(row("embedding_layer", (2456804, 1, left_over),
                        ("ALLREDUCE", message)))
        for _ in range(128 // 16):
            for kind in "column", "row":
                rows.append(row("attention_" + kind, *tensor_parallel(
                    kind, (attention, half, half), message, 0)))
            for kind in "column", "row":
                rows.append(row("mlp_" + kind, *tensor_parallel(
                    kind, mlp, message, 0)))
        rows.append(row("final_column",
                        *tensor_parallel("column", half, message, 0)))
    rows += [row(f"cross_entropy{i}", (0, 0, 0), ("ALLREDUCE", 16384))
             for i in (1, 2, 3)]
    rows += [row(f"optimizer{i}", (0, 0, 0), ("ALLREDUCE", 4))
             for i in (1, 2, 3, 4)]
    return HEADER.format(8, 1, 16, "", 16, 1024, ""), rows


def adapted():
    """98 rows: a job of 9,216 GPUs, edited for another cluster."""
    message = 2 * 4096 * 6144
    sent = message // 16
    dense_parameters, experts = 2807758848 // 2, 9663676416
    attention, moe, us = 245117, 1112273, 1000
    half = attention // 2
    rows = [
        row("grad_gather", (us, us, us),
            update=("ALLGATHER", 2 * dense_parameters // 16)),
        row("grad_param_comm", (us, us, us),
            update=("REDUCESCATTER", 4 * dense_parameters // 16)),
        row("grad_param_compute", (us, 1856264, us)),
        row("embedding_grads", (us, us, us), backward=("ALLREDUCE", sent)),
        row("moe_grad_norm1", (us, us, us),
            update=("ALLGATHER_DP_EP", 2 * experts // 16)),
        row("moe_grad_norm2", (us, us, us),
            update=("REDUCESCATTER_DP_EP", 4 * experts // 16)),
    ]
    expert_rows = [
        (moe, ("ALLGATHER", 2 * 4096 * 192 // 16)),
        (25 * us, ("ALLTOALL", sent // 2)),
        (50 * us, ("ALLTOALL_EP", sent * 4 // 2)),
        (100 * us, ("ALLGATHER", sent * 4), ("REDUCESCATTER", sent * 4)),
        (100 * us, ("REDUCESCATTER", sent * 4), ("ALLGATHER", sent * 4)),
        (50 * us, ("ALLTOALL_EP", sent * 4 // 2)),
        (25 * us, ("ALLTOALL", sent // 2)),
    ]
    layer = expert_row = 0
    for embedding, layers, left_over, final in (
            ("embedding_layer", 8, 2113459, "final_column"),
            ("embedding_layer_2", 1, half, "final_column_2")):
        rows.append(row(embedding, (87204, us, left_over), ("ALLREDUCE", sent)))
        for _ in range(layers):
            layer += 1
            for kind in "column", "row":
                rows.append(row(f"attention_{kind}_{layer}", *tensor_parallel(
                    kind, (attention, half, half), sent, sent // 2)))
            for time, *messages in expert_rows:
                expert_row += 1
                rows.append(row(f"mlp_moelayer_{expert_row}", (time, time, us),
                                messages[0], messages[-1]))
        rows.append(row(final,
                        *tensor_parallel("column", half, sent, sent // 2)))
    rows += [row(f"cross_entropy{i}", (50 * us,) * 3, ("ALLREDUCE", 16384))
             for i in (1, 2, 3)]
    rows += [row(f"optimizer{i}", (25 * us,) * 3, ("ALLREDUCE", 1024))
             for i in (1, 2, 3, 4)]
    return HEADER.format(8, 4, 4, " vpp: 8", 1, 128, f" pp_comm {message}"), rows


header, rows = {"dense": dense, "adapted": adapted}[sys.argv[1]]()
print(header)
print(len(rows))
for fields in rows:
    print(*fields, sep="\t")
