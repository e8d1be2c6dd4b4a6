// SPDX-License-Identifier: Apache-2.0
//
// Files that points have in common are on the disk once: points that differ in
// their network alone have the same workload. Private to the sweep.
#pragma once

#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"
#include <string>
#include <vector>

namespace foretrace::sweep {

class SharedFiles {
public:
  /// Learns the files of a point, which stay where they are.
  llvm::Error learn(llvm::StringRef Point);
  /// Makes those files in \p Begun that are known links to them, and learns the
  /// others, which will be in \p Point. Where the file system has no links they
  /// stay as they are.
  llvm::Error link(llvm::StringRef Begun, llvm::StringRef Point);

  /// Whether one of them is a script.
  bool hasScript() const { return HasScript; }

private:
  void add(const std::string &Path, std::string Digest);

  llvm::StringMap<std::string> Known; ///< paths by digests of what is in them
  bool HasScript = false;
};

/// What the system says of the file at \p Path.
llvm::Error fileError(llvm::StringRef Path, std::error_code Code);

/// The regular files in \p Folder, at any depth, sorted.
llvm::Expected<std::vector<std::string>> filesIn(llvm::StringRef Folder);

} // namespace foretrace::sweep
