// SPDX-License-Identifier: Apache-2.0
//
// Files of the language, for commands that change them.
#pragma once

#include "lang/Diagnostic.h"
#include "lang/SourceFiles.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"
#include <string>
#include <vector>

namespace foretrace::driver {

/// Returns the files in \p Given, and the `.fore` files of folders in it.
std::vector<std::string> listFiles(llvm::ArrayRef<std::string> Given);

/// Prints the change of the file \p Path as `diff -u` does.
llvm::Error printDiff(const std::string &Path, llvm::StringRef Before,
                      llvm::StringRef After);

/// Returns whether all errors are of the files around a job, not in it.
bool areOfFiles(const DiagnosticEngine &Diags);

/// Returns the files on disk that \p Sources has, once each.
std::vector<std::string> filesRead(const SourceFiles &Sources);

} // namespace foretrace::driver
