// SPDX-License-Identifier: Apache-2.0
#include "tools/foretrace/TraceFiles.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace foretrace {

Expected<std::vector<std::string>>
listTraces(const std::vector<std::string> &Given) {
  std::vector<std::string> Paths;
  for (const std::string &Path : Given) {
    if (!sys::fs::is_directory(Path)) {
      Paths.push_back(Path);
      continue;
    }
    const size_t Before = Paths.size();
    std::error_code EC;
    for (sys::fs::directory_iterator I(Path, EC), End; I != End && !EC;
         I.increment(EC))
      if (sys::path::extension(I->path()) == ".txt")
        Paths.push_back(I->path());
    if (EC)
      return createFileError(Path, EC);
    if (Paths.size() == Before)
      return createFileError(Path, createStringError("no *.txt in the folder"));
  }
  sort(Paths);
  return Paths;
}

} // namespace foretrace
