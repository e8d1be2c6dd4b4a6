// SPDX-License-Identifier: Apache-2.0
//
// Keeps other sweeps from writing to a file. Private to the sweep.
#pragma once

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"
#include <memory>

namespace foretrace::sweep {

/// A lock on a path: a locked file beside it, which is removed afterwards. The
/// lock ends with its process.
class WriteLock {
public:
  /// An error if another process has it.
  static llvm::Expected<WriteLock> take(llvm::StringRef Path);

  WriteLock(WriteLock &&) = default;
  WriteLock &operator=(WriteLock &&) = default;
  ~WriteLock();

  /// Returns the path of the locked file.
  const std::string &path() const { return Beside; }

private:
  /// An open file that can check whether it still has its name.
  class OpenFile : public llvm::raw_fd_ostream {
  public:
    using raw_fd_ostream::raw_fd_ostream;
    bool isAt(llvm::StringRef Path) const;
  };

  WriteLock() = default;

  std::string Beside;
  std::unique_ptr<OpenFile> File;
  std::unique_ptr<llvm::sys::fs::FileLocker> Held;
};

} // namespace foretrace::sweep
