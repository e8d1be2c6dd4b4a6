// SPDX-License-Identifier: Apache-2.0
//
// Where tensors live when no op asks for anything else: the sharding policy
// of ir/model/Dims.def applied to one job. Private to the passes.
#pragma once

#include "ir/model/Program.h"

namespace foretrace {

/// Returns whether sequence parallelism splits the tokens of an activation of
/// type \p T, which is part of the residual stream or sent to experts.
bool isOfStream(const ir::Spec &S, const ir::TensorType &T);

/// Layout of a parameter of type \p T. With ZeRO stage 3 it is also an equal
/// flat share over the ranks that hold the same part.
ir::Layout paramLayout(const ir::Program &P, const ir::Value &V);

/// Layout of an activation of type \p T between ops. Sequence parallelism
/// splits the residual stream, which has seq and hidden, over tp.
ir::Layout homeLayout(const ir::Program &P, const ir::TensorType &T);

/// Layout of the input \p V of the block \p B, which the data loader reads:
/// whole samples on one rank of tp (Megatron-LM, get_batch_on_this_tp_rank).
/// One stage has at home what its embedding has read.
ir::Layout dataLayout(const ir::Program &P, const ir::Block &B,
                      const ir::Value &V);

} // namespace foretrace
