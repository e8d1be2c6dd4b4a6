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

static std::string withoutSeparators(llvm::StringRef Name) {
  std::string Rest;
  llvm::copy_if(Name, std::back_inserter(Rest), llvm::isAlnum);
  return Rest;
}

const LibraryModel *foretrace::findLibraryModel(llvm::StringRef Path) {
  if (path::parent_path(Path) != "models" || path::extension(Path) != ".fore")
    return nullptr;
  const std::string Wanted = withoutSeparators(path::stem(Path));
  const auto *Found =
      llvm::find_if(libraryModels(), [&](const LibraryModel &M) {
        return withoutSeparators(M.Name) == Wanted;
      });
  return Found == libraryModels().end() ? nullptr : Found;
}
