// SPDX-License-Identifier: Apache-2.0
//
// Ids of the messages of passes (Passes.def).
#pragma once

#include "lang/Diagnostic.h"

#define DIAGNOSTIC_TABLE Passes
#define DIAGNOSTIC_ROWS "lang/diagnostics/Passes.def"
#include "lang/diagnostics/Ids.def"
