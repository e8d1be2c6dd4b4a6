// SPDX-License-Identifier: Apache-2.0
//
// Whether the goal of a sweep ranks its points.
// Private to the sweep.
#ifndef FORETRACE_TOOLS_SWEEP_CHECKGOAL_H
#define FORETRACE_TOOLS_SWEEP_CHECKGOAL_H

#include "tools/sweep/Report.h"

namespace foretrace::sweep {

/// Returns the key of the peak rate of which the MFU of a legal job is a share.
std::string peakKeyOf(const Sweep &S, CompiledJob &Job);

/// Reports axes that change the tokens of an iteration if the goal is `time`,
/// or the peak rate of MFU if it is `mfu`, as seen from the best point.
void reportGoal(Compiler &Session, const Sweep &S, const Summary &Of,
                DiagnosticEngine &Diags);

} // namespace foretrace::sweep

#endif
