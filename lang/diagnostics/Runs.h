// SPDX-License-Identifier: Apache-2.0
//
// Ids of the messages of tools/runs (Runs.def).
#pragma once

#include "lang/Diagnostic.h"

namespace foretrace::diag {

namespace runs_rows {
enum Row : unsigned {
#define DIAG(ID, SEVERITY, SLUG, TEXT) ID,
#include "lang/diagnostics/Runs.def"
};
} // namespace runs_rows

#define DIAG(ID, SEVERITY, SLUG, TEXT)                                         \
  constexpr Id ID = idOf(DiagnosticTable::Runs, runs_rows::ID);
#include "lang/diagnostics/Runs.def"

} // namespace foretrace::diag
