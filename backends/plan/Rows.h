// SPDX-License-Identifier: Apache-2.0
//
// The numbers that the plan shows: the partition, and the memory of its stages.
#ifndef FORETRACE_BACKENDS_PLAN_ROWS_H
#define FORETRACE_BACKENDS_PLAN_ROWS_H

#include "analysis/Figures.h"
#include "analysis/Partition.h"

namespace foretrace::plan {

/// Peak memory of the rank that needs most.
struct Peak {
  int64_t Bytes = 0;
  std::string Stages; ///< `3`, or `1-6`
  MemoryPhase Phase = MemoryPhase::Forward;
};

/// The figures of stages in the second table.
inline constexpr FigureId MemoryColumns[] = {
    FigureId::Weights, FigureId::Gradients, FigureId::Optimizer,
    FigureId::Activations, FigureId::Peak};

/// The content of a plan.
struct PlanRows : Partition {
  /// Bytes of a rank: by kind of stage of the program, by column.
  std::vector<std::array<int64_t, std::size(MemoryColumns)>> Memory;
  Peak Most;
  /// Of an estimate, if it was asked for; with the stages of the program.
  const IterationTime *Times = nullptr;
};

/// Returns the rows of a program, which has costs and must outlive them.
PlanRows makeRows(JobFigures &Of, bool HasTimes = false);

} // namespace foretrace::plan

#endif
