// SPDX-License-Identifier: Apache-2.0
//
// Overlap of communication with computation. A step of a schedule takes the
// time of all its ops, without the parts of collectives that other ops overlap.
#pragma once

#include "analysis/CollectiveTimes.h"
#include "ir/model/Program.h"

namespace foretrace {

/// The least elements of a bucket of gradients in Megatron-LM
/// (distributed_data_parallel.py, __init__): these, or so many for each rank
/// among which gradients are reduced if that is more.
constexpr int64_t LeastOfBucket = 40000000, OfBucketPerRank = 1000000;

/// Sets Op::HiddenLaw and Op::Hidden of all collectives of \p P, whose ops have
/// expressions of their durations, by the keys of the job and the `exposed`
/// parameters of its `cost estimate`:
///
/// * collectives over tp with `tp_comm_overlap`, all but a share;
/// * a ring over cp behind the attention of its pass;
/// * an exchange of tokens with `overlap_moe_expert_parallel_comm`, behind the
///   layer's pass in the other direction;
/// * with ZeRO 2 and 3, gathers and reductions in layers behind the rest of
///   their pass;
/// * with `overlap_grad_reduce` and `overlap_param_gather`, the reductions and
///   gathers of a stage's step behind the passes of one micro-batch.
///
/// The last two slow down the passes, and share their links, the network card
/// or those of the domain, with the collectives in them: while both run, each
/// has half of the rate. \p Places are those of \p P; null without a cluster.
void hideCommunication(ir::Program &P, CollectiveTimes *Places);

} // namespace foretrace
