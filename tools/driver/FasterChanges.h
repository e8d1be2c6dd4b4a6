// SPDX-License-Identifier: Apache-2.0
//
// What to change in a job for a shorter iteration, as a table.
#ifndef FORETRACE_TOOLS_DRIVER_FASTERCHANGES_H
#define FORETRACE_TOOLS_DRIVER_FASTERCHANGES_H

#include "backends/figures/Figures.h"
#include "tools/compiler/CompiledJob.h"

namespace foretrace::driver {

/// Returns the changes of single keys of \p Job with which an iteration is
/// estimated to be shorter, from the one that saves most. Nothing new is wrong
/// with the changed job, and no rank needs more memory than a device has,
/// unless one does already. \p P is the job as it is.
FigureTable listFasterChanges(const CompiledJob &Job, const ir::Program &P);

} // namespace foretrace::driver

#endif
