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

/// Returns a name without separators, but for those between digits: `llama3_8b`
/// of `llama-3-8b`, so that it is not `llama38b`.
static std::string reduced(llvm::StringRef Name) {
  std::string Out;
  for (const auto &[I, C] : llvm::enumerate(Name)) {
    const bool IsBetween = !Out.empty() && llvm::isDigit(Out.back()) &&
                           I + 1 < Name.size() && llvm::isDigit(Name[I + 1]);
    if (llvm::isAlnum(C))
      Out += C;
    else if (IsBetween)
      Out += '_';
  }
  return Out;
}

const LibraryModel *foretrace::findLibraryModel(llvm::StringRef Path) {
  if (path::parent_path(Path) != "models" || path::extension(Path) != ".fore")
    return nullptr;
  const std::string Wanted = reduced(path::stem(Path));
  const auto *Found =
      llvm::find_if(libraryModels(), [&](const LibraryModel &M) {
        return reduced(M.Name) == Wanted;
      });
  return Found == libraryModels().end() ? nullptr : Found;
}

std::vector<std::string> foretrace::idsOf(const LibraryModel &M) {
  llvm::StringRef Source = M.Source;
  llvm::SmallVector<llvm::StringRef, 4> Ids;
  if (Source.consume_front("config.json of "))
    Source.split(Ids, " and ");
  if (llvm::any_of(Ids, [](llvm::StringRef Id) {
        return Id.count('/') != 1 || Id.find_first_of(" ,") != Id.npos;
      }))
    return {}; // a part of it, or more
  return {Ids.begin(), Ids.end()};
}

const LibraryModel *foretrace::findNamedModel(llvm::StringRef Name) {
  if (const LibraryModel *M = findLibraryModel(Name))
    return M;
  if (!Name.contains('/'))
    return findLibraryModel("models/" + Name.lower() + ".fore");
  const LibraryModel *Found = nullptr;
  for (const LibraryModel &M : libraryModels())
    if (llvm::any_of(
            idsOf(M),
            [&](llvm::StringRef Id) { return Id.equals_insensitive(Name); }) &&
        // Prefers the model with this title, which has no branch and all parts.
        (!Found || M.Title.equals_insensitive(path::filename(Name))))
      Found = &M;
  return Found;
}
