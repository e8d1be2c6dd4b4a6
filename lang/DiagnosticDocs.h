// SPDX-License-Identifier: Apache-2.0
//
// What docs/diagnostics.md says of a diagnostic; the page is part of the
// program.
#pragma once

#include "llvm/ADT/StringRef.h"
#include <string>

namespace foretrace {

/// The section on the error or warning \p Slug, in Markdown; empty if there is
/// none.
llvm::StringRef findSection(llvm::StringRef Slug);

/// The first sentence of \p Section, on one line.
std::string firstSentence(llvm::StringRef Section);

} // namespace foretrace
