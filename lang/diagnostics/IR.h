// SPDX-License-Identifier: Apache-2.0
//
// Ids of the messages of ir (IR.def).
#pragma once

#include "lang/Diagnostic.h"

#define DIAGNOSTIC_TABLE IR
#define DIAGNOSTIC_ROWS "lang/diagnostics/IR.def"
#include "lang/diagnostics/Ids.def"
