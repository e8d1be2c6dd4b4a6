// SPDX-License-Identifier: Apache-2.0
//
// Options of `foretrace sweep` for one that several processes do.
#pragma once

#include "tools/sweep/Launch.h"

namespace foretrace {

/// What the command line says, less the threads and the database.
sweep::LaunchOptions launchOptions();

} // namespace foretrace
