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
/// Returns the messages of the schedule itself, as calls that begin together.
std::vector<Line> callLines(const ir::Schedule &S);
/// Returns the lines with what PyTorch's runtime adds: messages and, if
/// parameters are sharded, gathers, releases and reductions of parts.
std::vector<Line> loweredLines(const ir::Schedule &S, bool IsSharded);

void writeCSV(const std::vector<Line> &Lines, llvm::raw_ostream &OS);

} // namespace foretrace::schedule
