// SPDX-License-Identifier: Apache-2.0
//
// What to change in a job whose devices have too little memory, as a table.
#ifndef FORETRACE_TOOLS_DRIVER_FITTINGCHANGES_H
#define FORETRACE_TOOLS_DRIVER_FITTINGCHANGES_H

#include "backends/figures/Figures.h"
#include "tools/compiler/CompiledJob.h"

namespace foretrace::driver {

/// Changes of \p Job with which no rank has more than \p Room bytes and nothing
/// new is wrong, each compiled anew, after \p P, the job as it is.
FigureTable listFittingChanges(const CompiledJob &Job, const ir::Program &P,
                               int64_t Room);

} // namespace foretrace::driver

#endif
