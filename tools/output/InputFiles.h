// SPDX-License-Identifier: Apache-2.0
//
// Which files a run reads, so that it writes over none of them.
#pragma once

#include "lang/SourceFiles.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/FileSystem.h"
#include <map>
#include <string>

namespace foretrace {

/// Files by identity, not by name: links and `./` make no difference.
class InputFiles {
public:
  /// Adds the file at \p Path, if there is one; `-` is standard input.
  void add(llvm::StringRef Path);
  /// Adds all that were read from disk.
  void add(const SourceFiles &Sources);
  /// Returns an OverwritesInput if the file at \p Path, whose status is \p At,
  /// is one of them.
  llvm::Error check(llvm::StringRef Path,
                    const llvm::sys::fs::file_status &At) const;
  /// Checks \p Path with its current status.
  llvm::Error check(llvm::StringRef Path) const;

private:
  /// The path by which each was read.
  std::map<llvm::sys::fs::UniqueID, std::string> Names;
};

/// The error that an output would replace an input.
class OverwritesInput final : public llvm::ErrorInfo<OverwritesInput> {
public:
  static char ID;
  OverwritesInput(llvm::StringRef Path, llvm::StringRef Input)
      : Path(Path), Input(Input) {}

  void log(llvm::raw_ostream &OS) const override;
  std::error_code convertToErrorCode() const override;

  const std::string Path;
  const std::string Input; ///< the path of the input
};

} // namespace foretrace
