// SPDX-License-Identifier: Apache-2.0
//
// The one style of `.fore` files.
#pragma once

#include "lang/Diagnostic.h"
#include <optional>
#include <string>

namespace foretrace {

/// Returns \p Text in the style: two columns an indent, one space between
/// words, three between entries of a line, at most 100 bytes where entries
/// allow it. The author's line breaks stay, except within the head of a section;
/// so do comments, and one of several empty lines. The tokens are the same, and
/// formatting the result changes nothing. Nothing after a syntax error, which
/// is reported.
std::optional<std::string> formatFore(SourceText Text, DiagnosticEngine &Diags);
/// Formats \p Text without a report.
std::optional<std::string> formatText(llvm::StringRef Text);

} // namespace foretrace
