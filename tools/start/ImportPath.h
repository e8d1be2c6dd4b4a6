// SPDX-License-Identifier: Apache-2.0
//
// Names of the library on the command line, and files in their place.
#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <string>

namespace foretrace::start {

/// Returns the path that a job imports for \p Name, of a model (`models`,
/// `fore`) or a cluster (`clusters`, `toml`): that of the library, or \p Name
/// itself if it is a file, as seen from the folder of \p Job.
llvm::Expected<std::string> importFor(llvm::StringRef Name,
                                      llvm::StringRef Folder,
                                      llvm::StringRef Extension,
                                      llvm::StringRef Job);

} // namespace foretrace::start
