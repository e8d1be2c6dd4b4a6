// SPDX-License-Identifier: Apache-2.0
//
// The parameters of an imported model beside those of its checkpoint.
#pragma once

#include "tools/importers/Importers.h"

namespace foretrace {

/// Reports a checkpoint beside the configuration that \p Request names if it
/// has another number of parameters than the model of \p Job.
void compareCheckpoint(importers::ImportedJob &Job,
                       importers::ImportRequest &Request);

} // namespace foretrace
