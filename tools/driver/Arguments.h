// SPDX-License-Identifier: Apache-2.0
//
// Rewrites words of the command line that LLVM's parser does not know: keys of
// jobs as options. Mistakes are reported with what was meant.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include <string>

namespace foretrace::driver {

/// The message for a first argument that is none of the subcommands \p Known,
/// with the one that was meant.
std::string unknownCommand(llvm::StringRef Argument,
                           llvm::ArrayRef<llvm::StringRef> Known);

/// Replaces each of \p Arguments that is a key of a job written as an option,
/// `--tp=8`, by `-Dparallel.tp=8`, and `--cluster=h100` by `-Dcluster=h100`,
/// unless \p IsOption says that the command has an option of that name. The
/// new words last as long as the process. Returns the message for the first one
/// that is a key without its value, `--tp 8` or `-D parallel.tp 8`, or a key of
/// a command that takes none; empty if there is none.
std::string replaceKeys(llvm::MutableArrayRef<char *> Arguments,
                        llvm::function_ref<bool(llvm::StringRef)> IsOption);

} // namespace foretrace::driver
