// SPDX-License-Identifier: Apache-2.0
//
// Ids of the messages of tools/validate (Validate.def).
#pragma once

#include "lang/Diagnostic.h"

#define DIAGNOSTIC_TABLE Validate
#define DIAGNOSTIC_ROWS "lang/diagnostics/Validate.def"
#include "lang/diagnostics/Ids.def"
