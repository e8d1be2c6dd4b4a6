// SPDX-License-Identifier: Apache-2.0
//
// What the backends that write the tasks of ranks (ir/ranks/StageTasks.h) ask
// of a job.
#pragma once

#include "backends/ranks/RankFiles.h"

namespace foretrace {

/// Returns whether each stage has few enough layers to be written layer by
/// layer. Reports the first that has too many.
bool checkLayers(const ir::Program &P, DiagnosticEngine &Diags);

/// Returns whether a stage's steps can be written one by one, and the time of
/// all steps, in ns, be counted, and its layers; reports what can't.
bool checkSteps(const EmitRequest &Request, DiagnosticEngine &Diags);

/// A number of tasks that all ranks, or \p Chosen ones if there are some, have
/// at least; a step has been checked.
double leastTasks(const ir::Program &P, const RankList &Chosen = {});

} // namespace foretrace
