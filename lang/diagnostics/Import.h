// SPDX-License-Identifier: Apache-2.0
//
// Ids of the messages of importers and exporters (Import.def).
#pragma once

#include "lang/Diagnostic.h"

namespace foretrace::diag {

namespace import_rows {
enum Row : unsigned {
#define DIAG(ID, SEVERITY, SLUG, TEXT) ID,
#include "lang/diagnostics/Import.def"
};
} // namespace import_rows

#define DIAG(ID, SEVERITY, SLUG, TEXT)                                         \
  constexpr Id ID = idOf(DiagnosticTable::Import, import_rows::ID);
#include "lang/diagnostics/Import.def"

} // namespace foretrace::diag
