// SPDX-License-Identifier: Apache-2.0
//
// Ids of the messages of frontend (Frontend.def).
#pragma once

#include "lang/Diagnostic.h"

namespace foretrace::diag {

namespace frontend_rows {
enum Row : unsigned {
#define DIAG(ID, SEVERITY, SLUG, TEXT) ID,
#include "lang/diagnostics/Frontend.def"
};
} // namespace frontend_rows

#define DIAG(ID, SEVERITY, SLUG, TEXT)                                         \
  constexpr Id ID = idOf(DiagnosticTable::Frontend, frontend_rows::ID);
#include "lang/diagnostics/Frontend.def"

} // namespace foretrace::diag
