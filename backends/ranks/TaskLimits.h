// SPDX-License-Identifier: Apache-2.0
//
// What the backends that write the tasks of ranks (ir/ranks/StageTasks.h) ask
// of a job.
#pragma once

#include "backends/ranks/RankFiles.h"

namespace foretrace {

/// Whether what a stage runs for a micro-batch can be written layer by layer:
/// it is made as a whole. Reports the first stage that has too many layers.
bool checkLayers(const ir::Program &P, DiagnosticEngine &Diags);

/// Whether a stage's steps can be written one by one, and the time of all
/// steps, in ns, be counted, and its layers; reports what can't.
bool checkSteps(const EmitRequest &Request, DiagnosticEngine &Diags);

/// A number of tasks that all ranks, or \p Chosen ones if there are some, have
/// at least; a step has been checked.
double leastTasks(const ir::Program &P, const RankList &Chosen = {});

} // namespace foretrace
