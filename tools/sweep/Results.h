// SPDX-License-Identifier: Apache-2.0
//
// What simulators say of the points that a sweep emitted: a script that runs
// them, and the way of their results back into the database.
#pragma once

#include "tools/output/FileOutputs.h"
#include "tools/sweep/Database.h"

namespace foretrace::sweep {

/// Writes the script that runs those of all points in \p Folder, its own folder
/// later, to \p Script. It collects what they print for the database at
/// \p Path.
llvm::Error writeRunScript(llvm::StringRef Script, const OutputOptions &Writing,
                           llvm::StringRef Folder, llvm::StringRef Path);

/// Scripts of points that ran.
struct CollectedResults {
  int64_t Count = 0;
  int64_t Failed = 0; ///< without a result
};
/// Reads what `run.sh` left in \p Folder into the table `figures`; an error if
/// no script was run.
llvm::Expected<CollectedResults> collectResults(llvm::StringRef Path,
                                                llvm::StringRef Folder);

/// Returns the system's error for the file at \p Path.
llvm::Error fileError(llvm::StringRef Path, std::error_code Code);

/// The regular files in \p Folder, at any depth, sorted.
llvm::Expected<std::vector<std::string>> filesIn(llvm::StringRef Folder);

} // namespace foretrace::sweep
