// SPDX-License-Identifier: Apache-2.0
#include "tools/explore/ConfinedFiles.h"
#include "lang/Library.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace foretrace::explore {

/// Returns the path without links and dots; empty if there is no such file.
static std::string realPath(StringRef Path) {
  SmallString<256> Real;
  if (sys::fs::real_path(Path.empty() ? "." : Path, Real))
    return "";
  return Real.str().str();
}

static bool isBelow(StringRef Path, StringRef Folder) {
  return Path == Folder || Folder == "/" ||
         (Path.starts_with(Folder) && Path[Folder.size()] == '/');
}

ConfinedFiles::ConfinedFiles(ArrayRef<std::string> Given)
    : ProxyFileSystem(vfs::getRealFileSystem()) {
  for (const std::string &Folder : Given)
    if (std::string Real = realPath(Folder); !Real.empty())
      Folders.push_back(std::move(Real));
}

void ConfinedFiles::allow(StringRef Path) {
  if (std::string Real = realPath(Path); !Real.empty())
    Files.insert(std::move(Real));
}

std::vector<std::string> ConfinedFiles::takeDenied() {
  std::vector<std::string> All(Denied.begin(), Denied.end());
  Denied.clear();
  return All;
}

/// Judges a missing file by its path, so that the answer does not reveal which
/// files exist elsewhere.
bool ConfinedFiles::isDenied(const Twine &Path) const {
  SmallString<256> Given;
  Path.toVector(Given);
  std::string Real = realPath(Given);
  if (Real.empty()) {
    SmallString<256> Plain = Given;
    if (sys::fs::make_absolute(Plain))
      return true;
    sys::path::remove_dots(Plain, /*remove_dot_dot=*/true);
    const std::string Folder = realPath(sys::path::parent_path(Plain));
    Real = Folder.empty() ? Plain.str().str()
                          : Folder + "/" + sys::path::filename(Plain).str();
  }
  return Files.count(Real) == 0 &&
         none_of(Folders, [&](StringRef F) { return isBelow(Real, F); });
}

/// Unlike `permission denied`, lets the library be searched.
static std::error_code nothingThere() {
  return make_error_code(std::errc::no_such_file_or_directory);
}

ErrorOr<vfs::Status> ConfinedFiles::status(const Twine &Path) {
  if (!isDenied(Path))
    return ProxyFileSystem::status(Path);
  // The library is looked for on the disk first.
  if (std::string Given = Path.str();
      !StringRef(Given).starts_with(LibraryFolder))
    Denied.insert(std::move(Given));
  return nothingThere();
}

ErrorOr<std::unique_ptr<vfs::File>>
ConfinedFiles::openFileForRead(const Twine &Path) {
  if (isDenied(Path))
    return nothingThere();
  return ProxyFileSystem::openFileForRead(Path);
}

vfs::directory_iterator ConfinedFiles::dir_begin(const Twine &Dir,
                                                 std::error_code &EC) {
  if (isDenied(Dir)) {
    EC = nothingThere();
    return {};
  }
  return ProxyFileSystem::dir_begin(Dir, EC);
}

std::error_code ConfinedFiles::getRealPath(const Twine &Path,
                                           SmallVectorImpl<char> &Output) {
  if (isDenied(Path))
    return nothingThere();
  return ProxyFileSystem::getRealPath(Path, Output);
}

} // namespace foretrace::explore
