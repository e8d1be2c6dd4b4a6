// SPDX-License-Identifier: Apache-2.0
//
// The disk as a sweep found it. Private to the sweep.
#pragma once

#include "llvm/ADT/StringMap.h"
#include "llvm/Support/VirtualFileSystem.h"
#include <memory>
#include <mutex>
#include <string>

namespace foretrace::sweep {

/// Reads each file once, so that all points have the same text, even if the
/// file changes during the sweep. For several threads. Only regular files are
/// kept.
class FrozenFiles final : public llvm::vfs::ProxyFileSystem {
public:
  explicit FrozenFiles(llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> Disk =
                           llvm::vfs::getRealFileSystem())
      : ProxyFileSystem(std::move(Disk)) {}

  llvm::ErrorOr<llvm::vfs::Status> status(const llvm::Twine &Path) override;
  bool exists(const llvm::Twine &Path) override;
  llvm::ErrorOr<std::unique_ptr<llvm::vfs::File>>
  openFileForRead(const llvm::Twine &Path) override;

  /// Returns why an existing file could not be read; empty if all could. Later
  /// results are not about the job then.
  std::string failure() const;

private:
  struct Known {
    std::error_code Missing; ///< if set, the rest is empty
    llvm::vfs::Status Status;
    std::unique_ptr<llvm::MemoryBuffer> Text; ///< null until it is opened
  };
  llvm::ErrorOr<Known *> find(llvm::StringRef Path);

  mutable std::mutex Guard;
  llvm::StringMap<Known> Files; ///< by path
  std::string Failure;
};

/// Freezes \p Disk with \p Text, if there is one, in place of the file at
/// \p Path.
llvm::IntrusiveRefCntPtr<FrozenFiles>
freeze(llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> Disk,
       llvm::StringRef Path, std::optional<llvm::StringRef> Text);

} // namespace foretrace::sweep
