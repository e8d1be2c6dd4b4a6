// SPDX-License-Identifier: Apache-2.0
//
// Ids of the messages that several folders report (Lang.def).
#pragma once

#include "lang/Diagnostic.h"

namespace foretrace::diag {

namespace lang_rows {
enum Row : unsigned {
#define DIAG(ID, SEVERITY, SLUG, TEXT) ID,
#include "lang/diagnostics/Lang.def"
};
} // namespace lang_rows

#define DIAG(ID, SEVERITY, SLUG, TEXT)                                         \
  constexpr Id ID = idOf(DiagnosticTable::Lang, lang_rows::ID);
#include "lang/diagnostics/Lang.def"

} // namespace foretrace::diag
