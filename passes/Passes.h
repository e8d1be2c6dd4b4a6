// SPDX-License-Identifier: Apache-2.0
//
// The entry points of all passes (Passes.def). Each is defined in the file
// named after its function.
#pragma once

#include "ir/model/Program.h"
#include "lang/Diagnostic.h"

namespace foretrace {

#define PASS(FUNCTION, NAME, ...)                                              \
  bool FUNCTION(ir::Program &P, DiagnosticEngine &Diags);
#include "passes/Passes.def"

} // namespace foretrace
