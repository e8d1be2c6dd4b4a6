// SPDX-License-Identifier: Apache-2.0
//
// The file of classes that `emit chakra { ranks = classes }` writes: which
// rank's trace stands for which ranks.
#ifndef FORETRACE_TOOLS_VALIDATE_CHAKRACLASSES_H
#define FORETRACE_TOOLS_VALIDATE_CHAKRACLASSES_H

#include "tools/validate/Findings.h"
#include "llvm/ADT/ArrayRef.h"

namespace foretrace::validate {

/// Reads the classes \p Text of the file \p Path, and reports ranks that are
/// not in one class, and traces that are not of one: \p Traces are the ranks
/// that have a file. Returns how many ranks there are.
uint32_t readClasses(llvm::StringRef Text, llvm::StringRef Path,
                     llvm::ArrayRef<uint32_t> Traces, Findings &Out);

} // namespace foretrace::validate

#endif
