// SPDX-License-Identifier: Apache-2.0
#include "tools/output/InputFiles.h"
#include <unistd.h>

using namespace llvm;

namespace foretrace {

char OverwritesInput::ID;

void OverwritesInput::log(raw_ostream &OS) const {
  OS << "`" << Path << "` is an input of this run, read as `" << Input
     << "`; no output replaces an input";
}

std::error_code OverwritesInput::convertToErrorCode() const {
  return make_error_code(std::errc::file_exists);
}

void InputFiles::add(StringRef Path) {
  sys::fs::file_status At;
  const std::error_code EC = Path == "-" ? sys::fs::status(STDIN_FILENO, At)
                                         : sys::fs::status(Path, At);
  if (!EC && is_regular_file(At))
    Names.try_emplace(At.getUniqueID(),
                      Path == "-" ? "standard input" : Path.str());
}

void InputFiles::add(const SourceFiles &Sources) {
  // Texts from no file have names such as `<command line>`.
  const unsigned Count = Sources.forRenderer().getNumBuffers();
  for (unsigned I = 1; I <= Count; ++I) {
    const StringRef Name = Sources.name(static_cast<FileId>(I));
    add(Name == "<stdin>" ? "-" : Name);
  }
}

Error InputFiles::check(StringRef Path, const sys::fs::file_status &At) const {
  const auto It = Names.find(At.getUniqueID());
  if (!is_regular_file(At) || It == Names.end())
    return Error::success();
  return make_error<OverwritesInput>(Path, It->second);
}

Error InputFiles::check(StringRef Path) const {
  sys::fs::file_status At;
  if (sys::fs::status(Path, At))
    return Error::success();
  return check(Path, At);
}

} // namespace foretrace
