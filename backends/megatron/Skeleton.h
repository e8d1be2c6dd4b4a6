// SPDX-License-Identifier: Apache-2.0
//
// The trace that a job should leave, rank by rank: the rows of the schedule,
// with the calls that the ops of each chunk make.
#pragma once

#include "backends/megatron/Trace.h"
#include "ir/model/Measure.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <optional>

namespace foretrace::megatron {

/// The rows of all stages with the same layers.
struct StageBodies {
  RowBody RecvForward, SendForward, RecvBackward, SendBackward;
  RowBody GetBatch, Loss;
  std::vector<RowBody> Forward, Backward; ///< by chunk
  std::vector<RowBody> Finalize;          ///< in order
};

/// The expected trace of a program with schedule and sync, whose modes are
/// known.
class Skeleton {
public:
  /// \p Of outlives it.
  Skeleton(const ir::Program &Of, Instrumentation How);
  Skeleton(const Skeleton &) = delete;

  /// Ops of rows are its ops.
  const ir::Program &program() const { return P; }
  /// Its expressions, with those that shapes follow from.
  const ir::ExprTable &sizes() const { return P.Sizes; }
  Instrumentation instrumentation() const { return How; }

  /// Rows of one iteration on stage \p Stage, which all its ranks log alike.
  /// Stops when \p Visit returns false.
  void forEachRow(int64_t Stage,
                  llvm::function_ref<bool(const TraceRow &)> Visit) const;
  /// All of one iteration at once.
  std::vector<TraceRow> rows(int64_t Stage) const;

private:
  ir::ExprOverlay P;
  Instrumentation How;
  std::vector<StageBodies> Bodies; ///< parallel to P->Stages
};

} // namespace foretrace::megatron
