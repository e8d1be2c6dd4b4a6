// SPDX-License-Identifier: Apache-2.0
//
// Which file an import means.
#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/VirtualFileSystem.h"
#include <string>
#include <vector>

namespace foretrace {

struct LibraryModel;

/// Returns the folders in which the file \p Importer finds an import of
/// \p Path, the first one first; \p ImportPaths are those of all files.
std::vector<std::string>
importFolders(llvm::StringRef Path, llvm::StringRef Importer,
              const std::vector<std::string> &ImportPaths);

struct FoundImport {
  std::string Path;                    ///< empty if there is no such file
  const LibraryModel *Model = nullptr; ///< the one that a page is imported for
};
/// Finds the file that an import of \p Path from one of \p Folders means.
FoundImport findImport(llvm::StringRef Path,
                       const std::vector<std::string> &Folders,
                       llvm::vfs::FileSystem &System);

} // namespace foretrace
