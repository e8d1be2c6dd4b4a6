// SPDX-License-Identifier: Apache-2.0
#include "tools/sweep/SharedFiles.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SHA256.h"

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

static Expected<std::string> digestOfFile(StringRef Path) {
  const ErrorOr<std::unique_ptr<MemoryBuffer>> Text =
      MemoryBuffer::getFile(Path, /*IsText=*/false,
                            /*RequiresNullTerminator=*/false);
  if (!Text)
    return fileError(Path, Text.getError());
  SHA256 Hash;
  Hash.update((*Text)->getBuffer());
  return toHex(Hash.final());
}

Error SharedFiles::learn(StringRef Point) {
  Expected<std::vector<std::string>> Files = filesIn(Point);
  if (!Files)
    return Files.takeError();
  for (const std::string &F : *Files) {
    Expected<std::string> Digest = digestOfFile(F);
    if (!Digest)
      return Digest.takeError();
    Known.try_emplace(*Digest, F);
    HasScript |= StringRef(F).ends_with(".sh");
  }
  return Error::success();
}

Error SharedFiles::link(StringRef Beside) {
  Expected<std::vector<std::string>> Files = filesIn(Beside);
  if (!Files)
    return Files.takeError();
  for (const std::string &F : *Files) {
    Expected<std::string> Digest = digestOfFile(F);
    if (!Digest)
      return Digest.takeError();
    const auto It = Known.find(*Digest);
    const std::string Link = F + ".link";
    if (It == Known.end() || sys::fs::create_hard_link(It->second, Link))
      continue;
    if (std::error_code Code = sys::fs::rename(Link, F))
      return fileError(F, Code);
  }
  return Error::success();
}

} // namespace foretrace::sweep
