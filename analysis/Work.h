// SPDX-License-Identifier: Apache-2.0
//
// The arithmetic of ops, as expressions: 2 FLOPs for each multiply-add of
// contractions and of attention, whose causal mask leaves half. Everything else
// is bound by memory, and counts none.
#ifndef FORETRACE_ANALYSIS_WORK_H
#define FORETRACE_ANALYSIS_WORK_H

#include "ir/model/Measure.h"

namespace foretrace {

/// Whose work it is.
enum class WorkOf : unsigned char {
  Rank,    ///< one rank of the stage, for a micro-batch
  Replica, ///< all ranks of a replica; what several of them repeat, once
};

/// What kind of work an op does: conventions differ in what they count.
enum class WorkKind : unsigned char {
  Product, ///< a contraction of activations and parameters
  Scores,  ///< of attention, and their product with the values
  Router,  ///< which expert a token goes to
};

WorkKind workKindOf(const ir::Block &B, const ir::Op &O);

/// FLOPs of \p O, whose values are measured; nothing of what is bound by
/// memory.
std::optional<ir::Expr> workOf(ir::ExprScope P, const ir::Block &B,
                               const ir::Op &O, WorkOf Of);

/// What an op takes, and what it makes.
llvm::SmallVector<const ir::Value *, 8> valuesOf(const ir::Block &B,
                                                 const ir::Op &O);

} // namespace foretrace

#endif
