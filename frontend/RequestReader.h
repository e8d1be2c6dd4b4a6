// SPDX-License-Identifier: Apache-2.0
//
// Traces of requests in the forms of other tools.
#pragma once

#include "ir/model/RequestTrace.h"
#include "lang/Diagnostic.h"

namespace foretrace {

/// Returns whether the first line of \p Text has the columns of a trace.
bool looksLikeRequests(llvm::StringRef Text);
/// Reads a trace of at least one token of prompts and of output; nothing after
/// a report, which is at \p Use if no line is at fault.
std::optional<ir::RequestTrace> readRequests(SourceText Source, SourceRange Use,
                                             DiagnosticEngine &Diags);

} // namespace foretrace
