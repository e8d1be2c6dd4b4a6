// SPDX-License-Identifier: Apache-2.0
//
// Ids of the messages that several folders report (Lang.def).
#pragma once

#include "lang/Diagnostic.h"

#define DIAGNOSTIC_TABLE Lang
#define DIAGNOSTIC_ROWS "lang/diagnostics/Lang.def"
#include "lang/diagnostics/Ids.def"
