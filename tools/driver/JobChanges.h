// SPDX-License-Identifier: Apache-2.0
//
// Tables of changes of a job, for less memory or a shorter iteration.
#ifndef FORETRACE_TOOLS_DRIVER_JOBCHANGES_H
#define FORETRACE_TOOLS_DRIVER_JOBCHANGES_H

#include "backends/figures/Figures.h"
#include "tools/compiler/CompiledJob.h"

namespace foretrace::driver {

/// Returns changes of \p Job with which no rank has more than \p Room bytes and
/// nothing new is wrong, each compiled anew, after \p P, the job as it is.
FigureTable listFittingChanges(const CompiledJob &Job, const ir::Program &P,
                               int64_t Room);

/// Returns the changes of single keys of \p Job with which an iteration is
/// estimated to be shorter, from the one that saves most. Nothing new is wrong
/// with the changed job, and no rank needs more memory than a device has,
/// unless one does already. \p P is the job as it is.
FigureTable listFasterChanges(const CompiledJob &Job, const ir::Program &P);

} // namespace foretrace::driver

#endif
