// SPDX-License-Identifier: Apache-2.0
//
// `foretrace explain SLUG`: what docs/diagnostics.md says of a diagnostic.
#pragma once

#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"

namespace foretrace::explain {

/// Prints the paragraph on the error or warning \p Slug, in Markdown; an error
/// if there is none.
llvm::Error printDiagnostic(llvm::StringRef Slug, llvm::raw_ostream &OS);

} // namespace foretrace::explain
