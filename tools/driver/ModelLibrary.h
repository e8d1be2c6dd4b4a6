// SPDX-License-Identifier: Apache-2.0
//
// Where the shipped library of models and clusters lies: beside an installed
// tool, or in the source tree of a tool that was only built.
#ifndef FORETRACE_TOOLS_DRIVER_MODELLIBRARY_H
#define FORETRACE_TOOLS_DRIVER_MODELLIBRARY_H

#include "llvm/ADT/StringRef.h"
#include <string>
#include <vector>

namespace foretrace::driver {

/// The folder that holds `models/` and `clusters/` for the program that was
/// called by \p ProgramPath; \p Otherwise if it is not installed.
std::string findModelLibrary(const char *ProgramPath,
                             llvm::StringRef Otherwise);

/// What a job can import from a folder of \p Library, `models` or `clusters`,
/// in order: `models/NAME.fore`.
std::vector<std::string> listLibrary(llvm::StringRef Library,
                                     llvm::StringRef Folder);

} // namespace foretrace::driver

#endif
