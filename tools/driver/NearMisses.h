// SPDX-License-Identifier: Apache-2.0
//
// Mistakes on the command line that LLVM's parser has no good answer to.
#ifndef FORETRACE_TOOLS_DRIVER_NEARMISSES_H
#define FORETRACE_TOOLS_DRIVER_NEARMISSES_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include <string>

namespace foretrace::driver {

/// Returns `; did you mean ...?` if one of \p Known is near, else nothing.
std::string didYouMean(llvm::StringRef Word,
                       llvm::ArrayRef<llvm::StringRef> Known);

/// The message for a first argument that is none of the subcommands \p Known,
/// with the one that was meant.
std::string unknownCommand(llvm::StringRef Argument,
                           llvm::ArrayRef<llvm::StringRef> Known);

/// The message for the first of \p Arguments that is a key of a job written as
/// an option, `--tp=8`, unless \p IsOption, or for a key without its value, `-D
/// parallel.tp 8`; empty if there is none.
std::string
mistakenArgument(llvm::ArrayRef<char *> Arguments,
                 llvm::function_ref<bool(llvm::StringRef)> IsOption);

} // namespace foretrace::driver

#endif
