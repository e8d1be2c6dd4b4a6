// SPDX-License-Identifier: Apache-2.0
//
// Checks the trace of a step for lines that LLMServingSim's converter rejects or
// silently misreads.
#pragma once

#include "tools/validate/Findings.h"

namespace foretrace::validate {

/// Returns whether the first line of \p Text is that of such a trace.
bool looksLikeServingSim(llvm::StringRef Text);

/// Reports the defects of the trace \p Text of the file \p Path. Returns one
/// line that says what it holds.
std::string checkServingSim(llvm::StringRef Text, llvm::StringRef Path,
                            Findings &Out);

} // namespace foretrace::validate
