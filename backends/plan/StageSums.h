// SPDX-License-Identifier: Apache-2.0
//
// What each kind of stage amounts to on one rank: memory, and messages by kind
// of group. Private to the backend.
#pragma once

#include "backends/plan/Rows.h"
#include "lang/RowWriter.h"
#include "llvm/Support/raw_ostream.h"

namespace foretrace::plan {

/// A table for people, a line for each kind of stage.
void writeStages(const ir::Program &P, const PlanRows &R, RowFormat As,
                 bool IsExact, llvm::raw_ostream &OS);
/// The estimated times of a rank, a line for each kind of stage.
void writeTimes(const PlanRows &R, RowFormat As, bool IsExact,
                llvm::raw_ostream &OS);
/// Returns all figures of stages and, if they were asked for, their times.
FigureTable tableOfStages(const PlanRows &R);

/// Columns of CSV, each after a comma: their names, and what they are for a
/// stage, in bytes and ns.
void writeStageColumns(const ir::Program &P, const PlanRows &R,
                       llvm::raw_ostream &OS);
void writeStageColumns(const ir::Program &P, const PlanRows &R,
                       const ir::Stage &S, llvm::raw_ostream &OS);

} // namespace foretrace::plan
