// SPDX-License-Identifier: Apache-2.0
#include "tools/start/ImportPath.h"
#include "lang/DidYouMean.h"
#include "lang/Library.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace foretrace::start {

Expected<std::string> importFor(StringRef Name, StringRef Folder,
                                StringRef Extension, StringRef Job) {
  const std::string Shipped = (Folder + "/" + Name + "." + Extension).str();
  std::vector<StringRef> Known;
  for (const LibraryModel &M : libraryModels())
    if (Folder == "models")
      Known.push_back(M.Title);
  if (const LibraryModel *M =
          Folder == "models" ? findNamedModel(Name) : nullptr)
    return ("models/" + M->Title + ".fore").str();
  for (const LibraryFile &F : libraryFiles())
    if (Folder == "clusters" && sys::path::parent_path(F.Path) == Folder) {
      Known.push_back(sys::path::stem(F.Path));
      if (F.Path == Shipped)
        return Shipped;
    }
  if (sys::fs::is_regular_file(Name)) {
    SmallString<128> Path = Name;
    if (!sys::path::parent_path(Job).empty())
      if (const std::error_code EC = sys::fs::make_absolute(Path))
        return createStringError(EC, "`" + Name + "`: " + EC.message());
    return Path.str().str();
  }
  const StringRef Nearest = nearestWord(Name, Known);
  return createStringError(
      "`" + Name + "` is neither a file nor one of `foretrace list " + Folder +
      "`" + (Nearest.empty() ? "" : "; did you mean `" + Nearest + "`?"));
}

} // namespace foretrace::start
