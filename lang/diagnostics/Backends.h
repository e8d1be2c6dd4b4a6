// SPDX-License-Identifier: Apache-2.0
//
// Ids of the messages of backends (Backends.def).
#pragma once

#include "lang/Diagnostic.h"

namespace foretrace::diag {

namespace backends_rows {
enum Row : unsigned {
#define DIAG(ID, SEVERITY, SLUG, TEXT) ID,
#include "lang/diagnostics/Backends.def"
};
} // namespace backends_rows

#define DIAG(ID, SEVERITY, SLUG, TEXT)                                         \
  constexpr Id ID = idOf(DiagnosticTable::Backends, backends_rows::ID);
#include "lang/diagnostics/Backends.def"

} // namespace foretrace::diag
