// SPDX-License-Identifier: Apache-2.0
//
// What docs/diagnostics.md says of a diagnostic; the page is part of the
// program.
#ifndef FORETRACE_TOOLS_EXPLAIN_DIAGNOSTICPAGE_H
#define FORETRACE_TOOLS_EXPLAIN_DIAGNOSTICPAGE_H

#include "llvm/Support/Error.h"

namespace foretrace::explain {

/// The paragraph on the error or warning \p Slug, in Markdown; an error if
/// there is none.
llvm::Expected<llvm::StringRef> explainDiagnostic(llvm::StringRef Slug);

} // namespace foretrace::explain

#endif
