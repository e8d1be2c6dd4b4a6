// SPDX-License-Identifier: Apache-2.0
//
// When the steps of a pipeline run, and what they are: shared by the backends
// that show a schedule.
#pragma once

#include "backends/Backend.h"
#include "ir/schedule/Timeline.h"

namespace foretrace {

/// How long steps take.
enum class StepTime : unsigned char {
  Unit, ///< a forward step and each half of a backward step one
  Cost, ///< their ops, in ns
};
/// Returns the most precise step time that the job has.
StepTime bestTimeOf(const ir::Program &P);

/// Returns whether the steps of all stages can be run against each other, one
/// by one; reports what can't, at \p TimeRange if it is the time.
bool checkStepRun(const EmitRequest &Request, StepTime Time,
                  SourceRange TimeRange, DiagnosticEngine &Diags);

/// Runs the steps of \p S, the schedule of \p P or a smaller one, against each
/// other. A message delays only the step that needs it. It takes the time that
/// StepTimes has for it, or no time if steps are units.
ir::Timeline runSteps(const ir::Program &P, const ir::Schedule &S,
                      StepTime Time);

/// Bytes that a rank of stage \p Stage sends or receives in \p A, a message.
int64_t bytesOf(const ir::Program &P, int64_t Stage, const ir::Action &A);

/// Returns where a job states what \p A runs: the cell of a schedule file, the
/// layers, or of a message what cuts the model.
SourceRange placeOf(const ir::Spec &Job, const ir::Action &A);

} // namespace foretrace
