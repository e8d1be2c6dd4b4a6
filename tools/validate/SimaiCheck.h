// SPDX-License-Identifier: Apache-2.0
//
// What SimAI would not take, or take for something else, in a workload table.
#pragma once

#include "tools/validate/Findings.h"

namespace foretrace::validate {

/// Reports the defects of the table \p Text of the file \p Path. Returns one
/// line that says what it holds, with all digits if \p IsExact.
std::string checkTable(llvm::StringRef Text, llvm::StringRef Path, bool IsExact,
                       Findings &Out);

} // namespace foretrace::validate
