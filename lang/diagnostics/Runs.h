// SPDX-License-Identifier: Apache-2.0
//
// Ids of the messages of tools/runs (Runs.def).
#pragma once

#include "lang/Diagnostic.h"

#define DIAGNOSTIC_TABLE Runs
#define DIAGNOSTIC_ROWS "lang/diagnostics/Runs.def"
#include "lang/diagnostics/Ids.def"
