// SPDX-License-Identifier: Apache-2.0
//
// Private to the frontend.
#pragma once

#include "lang/Diagnostic.h"

namespace foretrace {

/// Reports a word that is no unit, with the unit that was meant.
void reportUnknownUnit(SourceRange Range, llvm::StringRef Word,
                       DiagnosticEngine &Diags);

} // namespace foretrace
