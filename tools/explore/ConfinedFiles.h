// SPDX-License-Identifier: Apache-2.0
//
// Files that a text from a page may read: those of some folders, and some more
// by name.
#pragma once

#include "llvm/Support/VirtualFileSystem.h"
#include <set>
#include <string>
#include <vector>

namespace foretrace::explore {

/// The allowed part of the disk; the rest of it does not exist. Symbolic links
/// count as their targets.
class ConfinedFiles final : public llvm::vfs::ProxyFileSystem {
public:
  /// Allows all files below \p Folders.
  explicit ConfinedFiles(llvm::ArrayRef<std::string> Folders);

  /// Allows one more file.
  void allow(llvm::StringRef Path);
  /// Paths that were looked for in vain since the last call.
  std::vector<std::string> takeDenied();

  llvm::ErrorOr<llvm::vfs::Status> status(const llvm::Twine &Path) override;
  llvm::ErrorOr<std::unique_ptr<llvm::vfs::File>>
  openFileForRead(const llvm::Twine &Path) override;
  llvm::vfs::directory_iterator dir_begin(const llvm::Twine &Dir,
                                          std::error_code &EC) override;
  std::error_code getRealPath(const llvm::Twine &Path,
                              llvm::SmallVectorImpl<char> &Output) override;

private:
  bool isDenied(const llvm::Twine &Path) const;

  std::vector<std::string> Folders; ///< real paths, as are the files
  std::set<std::string> Files;
  std::set<std::string> Denied;
};

} // namespace foretrace::explore
