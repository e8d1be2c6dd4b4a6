// SPDX-License-Identifier: Apache-2.0
//
// What a user wants done with warnings: the text behind `-W`.
#pragma once

#include "lang/Diagnostic.h"
#include "llvm/Support/Error.h"

namespace foretrace {

/// A setting of one warning, or of all: they are errors, or not shown.
struct WarningOption {
  bool IsError;
  std::optional<diag::Id> Id; ///< none: all

  void applyTo(DiagnosticEngine &Diags) const;
  /// Returns the text that parseWarningOption reads.
  std::string text() const;
};

/// Reads `error`, `error=SLUG` or `no-SLUG`.
llvm::Expected<WarningOption> parseWarningOption(llvm::StringRef Text);

} // namespace foretrace
