// SPDX-License-Identifier: Apache-2.0
//
// The bubble of a pipeline in closed form. The schedules of
// ir/model/Schedules.def and their sources: Narayanan et al., arXiv 2104.04473,
// section 2.2; Qi et al., arXiv 2401.10241 and 2405.15362, with steps that take
// as long as each other; DeepSeek-V3, arXiv 2412.19437, table 2. What they
// leave out, too few micro-batches to fill the pipeline, follows from the order
// of steps. test/properties/bubble.test holds all of it against a run of the
// schedules.
#ifndef FORETRACE_ANALYSIS_BUBBLE_H
#define FORETRACE_ANALYSIS_BUBBLE_H

#include "ir/model/Measure.h"

namespace foretrace {

/// How long a stage waits in an iteration, if every stage takes one step for a
/// micro-batch forward through a chunk, and two backward; one for each half
/// where a schedule parts them.
ir::Expr bubbleOf(ir::ExprScope P);
/// How long it works, in such steps.
ir::Expr stepsOf(ir::ExprScope P);
/// The share of both that it waits, in millionths.
ir::Expr bubbleShareOf(ir::ExprScope P);

} // namespace foretrace

#endif
