// SPDX-License-Identifier: Apache-2.0
//
// The numbers that the plan shows: the partition, and the memory of its stages.
#pragma once

#include "analysis/Partition.h"
#include "backends/figures/JobTables.h"

namespace foretrace::plan {

/// Peak memory of the rank that needs most.
struct Peak {
  int64_t Bytes = 0;
  IndexRange Stages = {0, 1};
  MemoryPhase Phase = MemoryPhase::Forward;
};

/// The content of a plan.
struct PlanRows : Partition {
  /// All figures of the kinds of stages of the program.
  FigureTable Stages;
  /// Those of the second table.
  std::vector<FigureId> MemoryColumns;
  Peak Most;
  /// The estimate, for the stages of the program; null if not requested.
  const IterationTime *Times = nullptr;
};

/// Returns the rows of a program, which has costs and must outlive them.
PlanRows makeRows(JobFigures &Of, bool HasTimes = false);

} // namespace foretrace::plan
