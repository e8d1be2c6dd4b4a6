// SPDX-License-Identifier: Apache-2.0
//
// Ids of the messages of importers and exporters (Import.def).
#pragma once

#include "lang/Diagnostic.h"

#define DIAGNOSTIC_TABLE Import
#define DIAGNOSTIC_ROWS "lang/diagnostics/Import.def"
#include "lang/diagnostics/Ids.def"
