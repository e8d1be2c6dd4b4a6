// SPDX-License-Identifier: Apache-2.0
//
// Recognises what files hold, whoever wrote them, and says what is wrong with
// it and what its reader would do.
#ifndef FORETRACE_TOOLS_VALIDATE_VALIDATE_H
#define FORETRACE_TOOLS_VALIDATE_VALIDATE_H

#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"

namespace foretrace::validate {

struct ValidateOptions {
  bool AsJSON = false; ///< an object a line instead of text
};

/// Validates the file or folder \p Path, and prints to \p OS what is wrong and,
/// of each file or set without an error, one line of what it holds. Returns
/// whether there was no error, or an error if it can't be read or recognised.
llvm::Expected<bool> validate(llvm::StringRef Path,
                              const ValidateOptions &Options,
                              llvm::raw_ostream &OS);

/// Prints what each set of Chakra traces in the folder \p Path holds.
llvm::Error summarizeSets(llvm::StringRef Path, llvm::raw_ostream &OS);

} // namespace foretrace::validate

#endif
