// SPDX-License-Identifier: Apache-2.0
#include "lang/Library.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"

using namespace foretrace;
namespace path = llvm::sys::path;

llvm::ArrayRef<LibraryFile> foretrace::libraryFiles() {
  static constexpr LibraryFile Files[] = {
#include "lang/Library.inc"
  };
  return Files;
}

llvm::ArrayRef<LibraryModel> foretrace::libraryModels() {
  static constexpr LibraryModel Models[] = {
#include "lang/LibraryModels.inc"
  };
  return Models;
}

/// Compares names without regard to separators, or at least to which they are.
static bool isAlike(llvm::StringRef A, llvm::StringRef B, bool AreKept) {
  auto Reduced = [&](llvm::StringRef Name) {
    std::string Out;
    for (const char C : Name)
      if (llvm::isAlnum(C) || AreKept)
        Out += llvm::isAlnum(C) ? C : '_';
    return Out;
  };
  return Reduced(A) == Reduced(B);
}

const LibraryModel *foretrace::findLibraryModel(llvm::StringRef Path) {
  if (path::parent_path(Path) != "models" || path::extension(Path) != ".fore")
    return nullptr;
  for (const bool AreKept : {true, false})
    for (const LibraryModel &M : libraryModels())
      if (isAlike(M.Name, path::stem(Path), AreKept))
        return &M;
  return nullptr;
}
