// SPDX-License-Identifier: Apache-2.0
//
// Ids of the messages of tools/validate (Validate.def).
#pragma once

#include "lang/Diagnostic.h"

namespace foretrace::diag {

namespace validate_rows {
enum Row : unsigned {
#define DIAG(ID, SEVERITY, SLUG, TEXT) ID,
#include "lang/diagnostics/Validate.def"
};
} // namespace validate_rows

#define DIAG(ID, SEVERITY, SLUG, TEXT)                                         \
  constexpr Id ID = idOf(DiagnosticTable::Validate, validate_rows::ID);
#include "lang/diagnostics/Validate.def"

} // namespace foretrace::diag
