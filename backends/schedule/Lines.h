// SPDX-License-Identifier: Apache-2.0
//
// A schedule as PyTorch's schedule file has it: a line for each rank of the
// pipeline, torch/distributed/pipelining/schedules.py, _dump_csv. Private to
// the backend.
#pragma once

#include "ir/model/Cells.h"
#include "ir/model/Schedule.h"

namespace foretrace::schedule {

/// Cells, and the steps that they are.
struct ScheduleEntry : ir::CellEntry {
  llvm::SmallVector<ir::Action, 2> Steps;
};
using Line = std::vector<ScheduleEntry>;

/// The steps of each stage alone.
std::vector<Line> stepLines(const ir::Schedule &S);
/// With the messages of the schedule itself: calls, of what begins together.
std::vector<Line> callLines(const ir::Schedule &S);
/// With what PyTorch's runtime adds to the steps: messages; and, if parameters
/// are sharded, when parts are gathered, freed, and their gradients reduced.
std::vector<Line> loweredLines(const ir::Schedule &S, bool IsSharded);

void writeCSV(const std::vector<Line> &Lines, llvm::raw_ostream &OS);

} // namespace foretrace::schedule
