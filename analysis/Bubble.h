// SPDX-License-Identifier: Apache-2.0
//
// The bubble of a pipeline in closed form, for the schedules of
// ir/model/Schedules.def. Sources: Narayanan et al., arXiv 2104.04473, section
// 2.2; Qi et al., arXiv 2401.10241 and 2405.15362, with steps of equal
// duration; DeepSeek-V3, arXiv 2412.19437, table 2. The case of too few
// micro-batches to fill the pipeline, which they omit, is derived from the
// order of steps. test/properties/bubble.test compares all of it with runs of
// the schedules.
#pragma once

#include "ir/model/Measure.h"

namespace foretrace {

/// Returns the idle time of a stage in an iteration. A stage takes one step for
/// a forward pass of a micro-batch through a chunk and two for a backward pass,
/// or one for each half if the schedule splits it.
ir::Expr bubbleOf(ir::ExprScope P);
/// Returns the busy time of a stage, in the same steps.
ir::Expr stepsOf(ir::ExprScope P);
/// Returns the share of idle time in the sum of both, in millionths.
ir::Expr bubbleShareOf(ir::ExprScope P);

} // namespace foretrace
