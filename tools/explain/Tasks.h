// SPDX-License-Identifier: Apache-2.0
//
// A task of a rank (ir/ranks/StageTasks.h), by its number. Tasks have to be
// walked through. Private to tools/explain.
#ifndef FORETRACE_TOOLS_EXPLAIN_TASKS_H
#define FORETRACE_TOOLS_EXPLAIN_TASKS_H

#include "ir/ranks/StageTasks.h"
#include "tools/explain/Figure.h"
#include "llvm/Support/Error.h"

namespace foretrace::explain {

struct FoundTask {
  ir::Task Task;
  Nanoseconds Before; ///< what computations before it take
};

/// Task \p Number of \p Rank, of a job whose steps can be written one by one;
/// an error says how many there are.
llvm::Expected<FoundTask> findTask(const ir::Program &P, int64_t Rank,
                                   int64_t Number);

/// `PREFIX, layer/linear_qkv: matmul, forward, micro-batch 0, chunk 0`, without
/// figures.
Subject describeTask(llvm::StringRef Prefix, const ir::Task &T);

/// The message of a task that communicates, as an expression of \p P. All
/// parts of a model hand on the same activation.
ir::Expr messageOf(ir::ExprScope P, const ir::Task &T);

} // namespace foretrace::explain

#endif
