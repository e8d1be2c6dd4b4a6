// SPDX-License-Identifier: Apache-2.0
//
// Ids of the messages of frontend (Frontend.def).
#pragma once

#include "lang/Diagnostic.h"

#define DIAGNOSTIC_TABLE Frontend
#define DIAGNOSTIC_ROWS "lang/diagnostics/Frontend.def"
#include "lang/diagnostics/Ids.def"
