// SPDX-License-Identifier: Apache-2.0
//
// Shares of ZeRO 2 and 3: what a rank has of a weight or its gradient, and what
// is gathered of it, as frameworks round both.
#pragma once

#include "ir/model/Measure.h"
#include <vector>

namespace foretrace::ir {

/// Returns whether Megatron-LM reduces gradients and shards what is updated.
bool isOfMegatron(const ParallelSpec &P);
/// Returns whether PyTorch reduces gradients and shards weights.
bool isOfTorch(const ParallelSpec &P);
/// Returns whether layers, and what is outside them, are units of PyTorch's
/// FSDP. With a pipeline this is not modelled.
bool hasTorchUnits(const Program &P);
/// Returns whether ranks have shares of weights between micro-batches: with
/// ZeRO 3, and in PyTorch also with 2, where they stay gathered from the
/// forward to the backward pass.
bool sharesWeights(const Program &P);
/// Returns whether Megatron-FSDP or DeepSpeed shards gradients and weights.
bool isMegatronFsdp(const ParallelSpec &P);
bool isDeepSpeed(const ParallelSpec &P);
/// Returns whether ZeRO 3 is DeepSpeed's or Megatron-FSDP's, which gather some
/// weights once an iteration.
bool keepsSomeWhole(const Program &P);
/// Returns whether \p V has the table of the embedding, on its stage.
bool isTableAgain(const Program &P, const Value &V);

/// Returns whether \p B is outside the layers: the first block of the model, or
/// the last one.
bool isOutsideLayers(const Program &P, const Block &B);

/// Returns the number of elements at whose multiples Megatron-FSDP begins
/// shares of all weights together: rows of each of them.
Expr rowsTogether(ExprScope P, bool AreOfExperts);
/// Returns the elements of \p V, a weight of \p B or its gradient, that a rank
/// has as its share.
Expr shareOf(ExprScope P, const Block &B, const Value &V);
/// Returns the elements of \p V that a rank sends when the op \p O gathers it.
Expr gatheredShareOf(ExprScope P, const Block &B, const Value &V, const Op &O);
/// Returns the elements of weights of one layer of \p B that each rank has
/// whole, all of its shares together.
Expr wholeWeightsOf(ExprScope P, const Block &B);
/// Returns a rank's share of each of these in DeepSpeed, in the order of
/// layers: they are gathered one by one.
std::vector<int64_t> wholeShares(const Program &P);
/// Returns 1 if weights are freed after the forward pass of a layer, else 0.
Expr freesWeights(ExprScope P);

} // namespace foretrace::ir
