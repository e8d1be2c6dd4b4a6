// SPDX-License-Identifier: Apache-2.0
//
// Tables of figures that several documents contain, each with the same keys:
// plans, the summary that jobs are compared by, and estimates of time.
#pragma once

#include "backends/figures/Figures.h"

namespace foretrace {

/// Returns the figure of an expression: 0 if there is none, and words if it
/// exceeds 2^63.
Figure figureOf(ir::ExprScope P, ir::ExprId Of);

/// Returns `stages`: the figures of a rank of each kind of stage, all rows of
/// analysis/Figures.def.
FigureTable makeStageTable(JobFigures &Of);
/// Returns `blocks`: the totals of one layer of each kind.
FigureTable makeBlockTable(ir::ExprScope P);
/// Returns `messages`: the communication volume of a rank of each kind of stage
/// per iteration, by kind of group.
FigureTable makeMessageTable(ir::ExprScope P);
/// Returns `block_messages`: the same of one layer and micro-batch.
FigureTable makeBlockMessageTable(ir::ExprScope P);
/// Returns `stages`: the estimated times of a rank of each kind of stage.
FigureTable makeTimeTable(const IterationTime &T);

} // namespace foretrace
