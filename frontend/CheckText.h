// SPDX-License-Identifier: Apache-2.0
//
// What must hold of any file before a parser sees it.
// Private to the frontend.
#pragma once

#include "lang/Diagnostic.h"

namespace foretrace {

/// Whether \p Text is UTF-8 without NUL bytes and of bearable size; reports
/// the first violation.
bool checkText(SourceText Text, DiagnosticEngine &Diags);

} // namespace foretrace
