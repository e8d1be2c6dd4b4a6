// SPDX-License-Identifier: Apache-2.0
//
// Ids of the messages of the tools (Tools.def).
#pragma once

#include "lang/Diagnostic.h"

namespace foretrace::diag {

namespace tools_rows {
enum Row : unsigned {
#define DIAG(ID, SEVERITY, SLUG, TEXT) ID,
#include "lang/diagnostics/Tools.def"
};
} // namespace tools_rows

#define DIAG(ID, SEVERITY, SLUG, TEXT)                                         \
  constexpr Id ID = idOf(DiagnosticTable::Tools, tools_rows::ID);
#include "lang/diagnostics/Tools.def"

} // namespace foretrace::diag
