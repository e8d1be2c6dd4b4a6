// SPDX-License-Identifier: Apache-2.0
//
// Ids of the messages of passes (Passes.def).
#pragma once

#include "lang/Diagnostic.h"

namespace foretrace::diag {

namespace passes_rows {
enum Row : unsigned {
#define DIAG(ID, SEVERITY, SLUG, TEXT) ID,
#include "lang/diagnostics/Passes.def"
};
} // namespace passes_rows

#define DIAG(ID, SEVERITY, SLUG, TEXT)                                         \
  constexpr Id ID = idOf(DiagnosticTable::Passes, passes_rows::ID);
#include "lang/diagnostics/Passes.def"

} // namespace foretrace::diag
