// SPDX-License-Identifier: Apache-2.0
#include "tools/foretrace/Library.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace foretrace {

static std::string &path() {
  static std::string Path = FORETRACE_SOURCE_LIBRARY;
  return Path;
}

void findLibrary(const char *ProgramPath) {
  SmallString<256> Folder(sys::path::parent_path(sys::fs::getMainExecutable(
      ProgramPath, reinterpret_cast<void *>(&findLibrary))));
  sys::path::append(Folder, "..", "share", "foretrace");
  if (sys::fs::is_directory(Folder + "/models"))
    path() = std::string(Folder);
}

const std::string &libraryPath() { return path(); }

} // namespace foretrace
