// SPDX-License-Identifier: Apache-2.0
#include "tools/driver/ModelLibrary.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace foretrace::driver {

std::string findModelLibrary(const char *ProgramPath, StringRef Otherwise) {
  SmallString<256> Folder(sys::path::parent_path(sys::fs::getMainExecutable(
      ProgramPath, reinterpret_cast<void *>(&findModelLibrary))));
  sys::path::append(Folder, "..", "share", "foretrace");
  return sys::fs::is_directory(Folder + "/models") ? std::string(Folder)
                                                   : Otherwise.str();
}

std::vector<std::string> listLibrary(StringRef Library, StringRef Folder) {
  std::vector<std::string> Names;
  std::error_code EC;
  for (sys::fs::directory_iterator I(Library + "/" + Folder, EC), End;
       I != End && !EC; I.increment(EC))
    if (is_contained({".fore", ".toml"}, sys::path::extension(I->path())))
      Names.push_back((Folder + "/" + sys::path::filename(I->path())).str());
  sort(Names);
  return Names;
}

} // namespace foretrace::driver
