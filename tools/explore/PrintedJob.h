// SPDX-License-Identifier: Apache-2.0
//
// A job with the changes of the command line as a file.
#pragma once

#include "tools/compiler/Compiler.h"

namespace foretrace::explore {

/// Returns the text of the job at \p Path, in the style of `fmt`, with the keys
/// that \p Options give and those that are assumed. \p S is the job as
/// \p Session has read it with these options. An error if a key has no place in
/// the text.
llvm::Expected<std::string> printJob(Compiler &Session, llvm::StringRef Path,
                                     const ir::Spec &S,
                                     FrontendOptions Options);

} // namespace foretrace::explore
