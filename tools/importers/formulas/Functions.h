// SPDX-License-Identifier: Apache-2.0
//
// The functions that formulas call. Private to this folder.
#pragma once

#include "tools/importers/formulas/ForeignValue.h"

namespace foretrace::importers {

/// Whether two values are the same; numbers by what they are, not by kind.
bool areEqual(const ForeignValue &L, const ForeignValue &R);

/// Calls the function \p Name with arguments that are all there. Its result is
/// missing after an error.
ForeignValue callFunction(llvm::StringRef Name, llvm::ArrayRef<ForeignValue> Of,
                          DiagnosticEngine &Diags);

} // namespace foretrace::importers
