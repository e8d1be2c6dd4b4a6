// SPDX-License-Identifier: Apache-2.0
//
// Finds a task of a rank (ir/ranks/StageTasks.h) by its number. All tasks
// before it have to be walked.
#pragma once

#include "analysis/Derivation.h"
#include "ir/ranks/StageTasks.h"
#include "llvm/Support/Error.h"

namespace foretrace {

/// A task of a rank.
struct FoundTask {
  ir::Task Task;
  Nanoseconds Before; ///< time of the computations before it
};

/// Finds task \p Number of \p Rank, in a job whose steps can be unfolded; the
/// error for a number beyond the last states how many tasks there are.
llvm::Expected<FoundTask> findTask(const ir::Program &P, int64_t Rank,
                                   int64_t Number);

/// Describes \p T, without figures:
/// `PREFIX, layer/linear_qkv: matmul, forward, micro-batch 0, chunk 0`.
Subject describeTask(llvm::StringRef Prefix, const ir::Task &T);

/// Returns the message of a communication task as an expression of \p P. All
/// parts of a model pass on an activation of the same size.
ir::Expr messageOf(ir::ExprScope P, const ir::Task &T);

} // namespace foretrace
