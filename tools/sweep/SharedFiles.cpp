// SPDX-License-Identifier: Apache-2.0
#include "tools/sweep/SharedFiles.h"
#include "lang/ReadFile.h"
#include "tools/sweep/Digest.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/FileSystem.h"

using namespace llvm;

namespace foretrace::sweep {

Error fileError(StringRef Path, std::error_code Code) {
  return createStringError("`" + Path + "`: " + Code.message());
}

Expected<std::vector<std::string>> filesIn(StringRef Folder) {
  std::vector<std::string> Files;
  std::error_code Code;
  for (sys::fs::recursive_directory_iterator I(Folder, Code), End;
       !Code && I != End; I.increment(Code))
    if (sys::fs::is_regular_file(I->path()))
      Files.push_back(I->path());
  if (Code)
    return fileError(Folder, Code);
  llvm::sort(Files);
  return Files;
}

/// Hands each file in \p Folder with the digest of what is in it to \p Take.
static Error
forEachFile(StringRef Folder,
            function_ref<Error(const std::string &, std::string)> Take) {
  Expected<std::vector<std::string>> Files = filesIn(Folder);
  if (!Files)
    return Files.takeError();
  for (const std::string &F : *Files) {
    const ErrorOr<std::unique_ptr<MemoryBuffer>> Text = readLargeFile(F);
    if (!Text)
      return fileError(F, Text.getError());
    if (Error E = Take(F, digestOf((*Text)->getBuffer())))
      return E;
  }
  return Error::success();
}

void SharedFiles::add(const std::string &Path, std::string Digest) {
  HasScript |= StringRef(Path).ends_with(".sh");
  Known.try_emplace(std::move(Digest), Path);
}

Error SharedFiles::learn(StringRef Point) {
  return forEachFile(Point, [&](const std::string &F, std::string Digest) {
    add(F, std::move(Digest));
    return Error::success();
  });
}

Error SharedFiles::link(StringRef Begun, StringRef Point) {
  return forEachFile(Begun, [&](const std::string &F, std::string Digest) {
    const auto It = Known.find(Digest);
    const std::string Link = F + ".link";
    std::error_code Code;
    if (It != Known.end() && !sys::fs::create_hard_link(It->second, Link))
      Code = sys::fs::rename(Link, F);
    // It will lie there once all files of the point are whole.
    add((Point + StringRef(F).drop_front(Begun.size())).str(),
        std::move(Digest));
    return Code ? fileError(F, Code) : Error::success();
  });
}

} // namespace foretrace::sweep
