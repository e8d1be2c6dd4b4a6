// SPDX-License-Identifier: Apache-2.0
//
// The parameters of an imported model beside those of its checkpoint.
#ifndef FORETRACE_TOOLS_COMPILER_COMPARECHECKPOINT_H
#define FORETRACE_TOOLS_COMPILER_COMPARECHECKPOINT_H

#include "tools/importers/Importers.h"

namespace foretrace {

/// Reports a checkpoint beside the configuration that \p Request names if it
/// has another number of parameters than the model of \p Job.
void compareCheckpoint(importers::ImportedJob &Job,
                       importers::ImportRequest &Request);

} // namespace foretrace

#endif
