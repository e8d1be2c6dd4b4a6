// SPDX-License-Identifier: Apache-2.0
//
// Ids of the messages of the tools (Tools.def).
#pragma once

#include "lang/Diagnostic.h"

#define DIAGNOSTIC_TABLE Tools
#define DIAGNOSTIC_ROWS "lang/diagnostics/Tools.def"
#include "lang/diagnostics/Ids.def"
