// SPDX-License-Identifier: Apache-2.0
//
// Recognises what files hold, whoever wrote them, and says what is wrong with
// it and what its reader would do.
#pragma once

#include "lang/DiagnosticClient.h"
#include "llvm/Support/Error.h"

namespace foretrace::validate {

/// Validates the file or folder \p Path and shows \p Out what is wrong. Prints
/// to \p People, if given, a line for each file or set: what it holds, or how
/// many errors it has; if \p IsExact, with all digits. Returns whether there
/// was no error, or an error if it can't be read or recognised.
llvm::Expected<bool> validate(llvm::StringRef Path, DiagnosticClient &Out,
                              llvm::raw_ostream *People, bool IsExact);

/// Prints what each set of Chakra traces in the folder \p Path holds. A table
/// for people is text here, which says more; if \p IsExact, with all digits.
llvm::Error summarizeSets(llvm::StringRef Path, RowFormat As, bool IsExact,
                          llvm::raw_ostream &OS);

} // namespace foretrace::validate
