// SPDX-License-Identifier: Apache-2.0
//
// Computations of a stage that can be one node of a trace. Private to the
// backend.
#pragma once

#include "ir/ranks/StageTasks.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/DenseMap.h"

namespace foretrace::chakra {

/// Consecutive computations that one node can replace with the same start and
/// end: the whole run waits for the communication that any of them needs, and
/// other communication waits only for the last one.
struct ComputeRun {
  int64_t Id; ///< of the last computation, for which others wait
  llvm::SmallVector<const ir::Op *, 4> Ops;
  /// The first computation, with the dependences of the whole run on others.
  ir::Task Task;
};

/// Merges the computations of a stage into runs.
class ComputeRuns {
public:
  /// Walks all tasks once. Takes memory for each, as the trace of a stage does.
  ComputeRuns(const ir::Program &P, int64_t Stage);

  /// Adds the next computation; the run that ends with it, if one does.
  std::optional<ComputeRun> add(int64_t Id, const ir::Task &T);
  /// Names runs instead of their computations in the dependences of \p T.
  ir::Task renamed(const ir::Task &T) const;

private:
  void rename(llvm::SmallVectorImpl<int64_t> &Ids) const;

  llvm::BitVector IsCompute; ///< by task
  llvm::BitVector GoesOn;    ///< the next computation is of the same run
  llvm::DenseMap<int64_t, int64_t> RunOf; ///< of computations but the last ones
  std::optional<ComputeRun> Run;          ///< that is being made
  llvm::SmallVector<int64_t, 8> Members;  ///< of it
};

} // namespace foretrace::chakra
