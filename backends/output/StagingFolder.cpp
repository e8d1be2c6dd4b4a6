// SPDX-License-Identifier: Apache-2.0
#include "backends/output/StagingFolder.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <algorithm>
#include <cerrno>
#include <climits>
#include <unistd.h>

using namespace llvm;

namespace foretrace {

ErrorOr<std::unique_ptr<NewFolder>> NewFolder::make(StringRef Path) {
  SignalHold Hold;
  if (isEnding())
    return make_error_code(std::errc::operation_canceled);
  std::error_code EC = sys::fs::create_directory(Path, /*IgnoreExisting=*/false,
                                                 sys::fs::all_all);
  if (EC == std::errc::file_exists && sys::fs::is_directory(Path))
    return nullptr;
  if (EC)
    return EC;
  std::unique_ptr<NewFolder> Folder(new NewFolder(Path));
  Folder->expect();
  return Folder;
}

NewFolder::~NewFolder() {
  SignalHold Hold;
  forget();
  remove();
}

void NewFolder::keep() { IsKept = true; }

void NewFolder::remove() noexcept {
  if (!IsKept)
    (void)::rmdir(Path.c_str()); // it stays if it isn't empty
}

static SmallString<256> joined(StringRef Folder, StringRef Name) {
  SmallString<256> Path(Folder);
  sys::path::append(Path, Name);
  return Path;
}

ErrorOr<std::unique_ptr<StagingFolder>> StagingFolder::make(StringRef Target,
                                                            bool IsForOne) {
  Kind K = IsForOne ? Kind::None : Kind::Within;
  if (!Target.empty() && !sys::fs::exists(Target))
    K = Kind::Beside;
  const SmallString<256> Model =
      joined(K == Kind::Beside ? sys::path::parent_path(Target) : Target,
             ".foretrace-%%%%%%%%");
  SignalHold Hold;
  if (isEnding())
    return make_error_code(std::errc::operation_canceled);
  SmallString<256> Path;
  std::error_code EC;
  do {
    sys::fs::createUniquePath(Model, Path, /*MakeAbsolute=*/false);
    if (K != Kind::None)
      EC = sys::fs::create_directory(Path, /*IgnoreExisting=*/false,
                                     sys::fs::all_all);
  } while (EC == std::errc::file_exists);
  if (EC)
    return EC;
  Path += K == Kind::None ? '-' : '/';
  std::unique_ptr<StagingFolder> Folder(new StagingFolder(Path, Target, K));
  Folder->expect();
  return Folder;
}

StagingFolder::~StagingFolder() {
  SignalHold Hold;
  forget();
  remove();
}

void StagingFolder::add(StringRef Name) {
  Entry *New = new (Memory.Allocate<Entry>()) Entry{Name};
  (Last ? Last->Next : First) = New;
  Last = New;
}

std::string StagingFolder::pathOf(StringRef Name) const {
  return Path + Name.str();
}

ErrorOr<int> StagingFolder::open(StringRef Name) const {
  if (isEnding())
    return make_error_code(std::errc::operation_canceled);
  int FD;
  if (std::error_code EC =
          sys::fs::openFileForWrite(pathOf(Name), FD, sys::fs::CD_CreateNew))
    return EC;
  return FD;
}

Error StagingFolder::commit() {
  // What is in a target that somebody has made in the meantime stays.
  if (K != Kind::Beside || sys::fs::rename(Path, Target))
    for (const Entry *E = First; E; E = E->Next) {
      const SmallString<256> To = joined(Target, E->Name);
      if (std::error_code EC = sys::fs::rename(pathOf(E->Name), To))
        return createFileError(To, EC);
    }
  First = nullptr;
  return Error::success();
}

void StagingFolder::remove() noexcept {
  // Paths are put together by hand: a handler must not allocate.
  char File[PATH_MAX];
  if (Path.size() >= sizeof(File))
    return;
  char *Begin = std::copy(Path.begin(), Path.end(), File);
  // While a handler runs, a writer on another thread may just be making its
  // file, each of them one.
  for (int Attempt = 0; Attempt != 64; ++Attempt) {
    for (const Entry *E = First; E; E = E->Next)
      if (E->Name.size() < static_cast<size_t>(std::end(File) - Begin)) {
        *std::copy(E->Name.begin(), E->Name.end(), Begin) = '\0';
        (void)::unlink(File);
      }
    if (K == Kind::None || ::rmdir(Path.c_str()) == 0 ||
        (errno != ENOTEMPTY && errno != EEXIST))
      return;
  }
}

} // namespace foretrace
