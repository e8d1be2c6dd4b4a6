// SPDX-License-Identifier: Apache-2.0
//
// Ids of the messages of ir (IR.def).
#pragma once

#include "lang/Diagnostic.h"

namespace foretrace::diag {

namespace ir_rows {
enum Row : unsigned {
#define DIAG(ID, SEVERITY, SLUG, TEXT) ID,
#include "lang/diagnostics/IR.def"
};
} // namespace ir_rows

#define DIAG(ID, SEVERITY, SLUG, TEXT)                                         \
  constexpr Id ID = idOf(DiagnosticTable::IR, ir_rows::ID);
#include "lang/diagnostics/IR.def"

} // namespace foretrace::diag
