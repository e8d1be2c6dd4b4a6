// SPDX-License-Identifier: Apache-2.0
//
// Ids of the messages of backends (Backends.def).
#pragma once

#include "lang/Diagnostic.h"

#define DIAGNOSTIC_TABLE Backends
#define DIAGNOSTIC_ROWS "lang/diagnostics/Backends.def"
#include "lang/diagnostics/Ids.def"
