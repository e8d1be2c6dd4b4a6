// SPDX-License-Identifier: Apache-2.0
//
// What the best point of a sweep does not tell: whether its goal ranks points
// at all, and what the estimate of its time leaves out.
// Private to the sweep.
#pragma once

#include "tools/sweep/Report.h"

namespace foretrace::sweep {

/// Returns the key of the peak rate of which the MFU of a legal job is a share.
std::string peakKeyOf(const Sweep &S, CompiledJob &Job);

/// Prints the caveats of the time of the best point, a line each, if the sweep
/// reads times.
void printCaveats(Compiler &Session, const Sweep &S, const Summary &Of,
                  llvm::raw_ostream &OS);

/// Reports axes that change what the goal takes to be the same at all points,
/// and axes whose points are as good as the best one because a cost is not
/// modelled, as seen from the best point.
void reportGoal(Compiler &Session, const Sweep &S, const Summary &Of,
                DiagnosticEngine &Diags);

} // namespace foretrace::sweep
