// SPDX-License-Identifier: Apache-2.0
//
// FLOPs of ops, as expressions: 2 per multiply-add of contractions and of
// attention, half of whose scores a causal mask hides. All other ops are bound
// by memory and count as 0.
#pragma once

#include "ir/model/Measure.h"

namespace foretrace {

/// The ranks whose work is counted.
enum class WorkOf : unsigned char {
  Rank,    ///< one rank of the stage, for a micro-batch
  Replica, ///< all ranks of a replica; repeated work counts once
};

/// The kind of work of an op, since conventions differ in what they count.
enum class WorkKind : unsigned char {
  Product, ///< a contraction of activations and parameters
  Scores,  ///< attention scores, and their product with the values
  Router,  ///< the choice of experts
};

WorkKind workKindOf(const ir::Block &B, const ir::Op &O);

/// Returns the FLOPs of \p O, whose values have been measured; nothing if it is
/// bound by memory.
std::optional<ir::Expr> workOf(ir::ExprScope P, const ir::Block &B,
                               const ir::Op &O, WorkOf Of);

/// Returns the FLOPs of attention with half of all pairs of a query and a key,
/// whatever its layer states.
ir::Expr halfOfScores(ir::ExprScope P, const ir::Block &B, const ir::Op &O,
                      WorkOf Of);

/// Returns the FLOPs of all ranks in an iteration. \p P has totals.
__int128 workOfAllRanks(ir::ExprScope P);

/// Returns the inputs and outputs of an op.
llvm::SmallVector<const ir::Value *, 8> valuesOf(const ir::Block &B,
                                                 const ir::Op &O);

} // namespace foretrace
