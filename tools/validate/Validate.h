// SPDX-License-Identifier: Apache-2.0
//
// Recognises what files hold, whoever wrote them, and says what is wrong with
// it and what its reader would do.
#ifndef FORETRACE_TOOLS_VALIDATE_VALIDATE_H
#define FORETRACE_TOOLS_VALIDATE_VALIDATE_H

#include "lang/RowWriter.h"
#include "llvm/Support/Error.h"

namespace foretrace::validate {

// A table for people is text here, which says more.

/// Validates the file or folder \p Path, and prints to \p OS what is wrong and
/// to people, of each file or set without an error, one line of what it holds.
/// Returns whether there was no error, or an error if it can't be read or
/// recognised.
llvm::Expected<bool> validate(llvm::StringRef Path, RowFormat As,
                              llvm::raw_ostream &OS);

/// Prints what each set of Chakra traces in the folder \p Path holds.
llvm::Error summarizeSets(llvm::StringRef Path, RowFormat As,
                          llvm::raw_ostream &OS);

} // namespace foretrace::validate

#endif
