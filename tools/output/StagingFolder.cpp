// SPDX-License-Identifier: Apache-2.0
#include "tools/output/StagingFolder.h"
#include "tools/output/Exchange.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/iterator_range.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <algorithm>
#include <cerrno>
#include <climits>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace llvm;

namespace foretrace {

ErrorOr<std::unique_ptr<NewFolder>> NewFolder::make(StringRef Path) {
  SignalHold Hold;
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

/// Prefix of names of staging folders, and the number of characters after it.
static constexpr StringLiteral StagingName = ".foretrace-";
static constexpr size_t StagingDigits = 8;

/// Locks a folder for as long as the file that is returned is open, which the
/// system closes if the process is killed. Fails if somebody else has it, or if
/// the file system has no locks.
static ErrorOr<int> lockFolder(const Twine &Path) {
  const int FD = ::open(Path.str().c_str(),
                        O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
  if (FD >= 0 && ::flock(FD, LOCK_EX | LOCK_NB) == 0)
    return FD;
  const std::error_code EC(errno, std::generic_category());
  if (FD >= 0)
    (void)::close(FD);
  return EC;
}

/// Makes a folder and locks it, if there are locks. In between, another process
/// may consider it abandoned and remove it; it is then reported as existing.
static std::error_code makeLocked(const Twine &Path, std::optional<int> &Lock) {
  if (const std::error_code EC = sys::fs::create_directory(
          Path, /*IgnoreExisting=*/false, sys::fs::all_all))
    return EC;
  const ErrorOr<int> Locked = lockFolder(Path);
  const bool IsTaken = Locked.getError() == std::errc::operation_would_block;
  if (!IsTaken && sys::fs::exists(Path)) {
    if (Locked)
      Lock = *Locked;
    return {};
  }
  if (Locked)
    (void)::close(*Locked);
  return make_error_code(std::errc::file_exists);
}

/// Removes the staging folders in \p Folder whose process was killed: they are
/// not locked. Their files are those of an unfinished run.
static void removeAbandoned(StringRef Folder) {
  std::error_code EC;
  std::vector<std::string> Found;
  for (sys::fs::directory_iterator I(Folder.empty() ? "." : Folder, EC), End;
       I != End && !EC; I.increment(EC)) {
    const StringRef Name = sys::path::filename(I->path());
    if (Name.starts_with(StagingName) &&
        Name.size() == StagingName.size() + StagingDigits)
      Found.push_back(I->path());
  }
  for (const std::string &Path : Found) {
    const ErrorOr<int> Lock = lockFolder(Path);
    if (!Lock)
      continue;
    std::vector<std::string> Files;
    for (sys::fs::directory_iterator I(Path, EC), End; I != End && !EC;
         I.increment(EC))
      Files.push_back(I->path());
    for (const std::string &File : Files)
      (void)::unlink(File.c_str()); // unlink does not remove a folder
    (void)::rmdir(Path.c_str());
    (void)::close(*Lock);
  }
}

ErrorOr<std::unique_ptr<StagingFolder>> StagingFolder::make(StringRef Target,
                                                            bool IsForOne) {
  Kind K = IsForOne ? Kind::None : Kind::Within;
  if (!Target.empty() && !sys::fs::exists(Target))
    K = Kind::Beside;
  const StringRef Parent =
      K == Kind::Beside ? sys::path::parent_path(Target) : Target;
  removeAbandoned(Parent);
  const SmallString<256> Model =
      joined(Parent, StagingName.str() + std::string(StagingDigits, '%'));
  SignalHold Hold;
  SmallString<256> Path;
  std::error_code EC;
  std::optional<int> Lock;
  do {
    sys::fs::createUniquePath(Model, Path, /*MakeAbsolute=*/false);
    if (K != Kind::None)
      EC = makeLocked(Path, Lock);
  } while (EC == std::errc::file_exists);
  if (EC)
    return EC;
  Path += K == Kind::None ? '-' : '/';
  std::unique_ptr<StagingFolder> Folder(
      new StagingFolder(Path, Target, K, Lock));
  Folder->expect();
  return Folder;
}

StagingFolder::~StagingFolder() {
  SignalHold Hold;
  forget();
  remove();
  if (Lock)
    (void)::close(*Lock);
}

const StagedFile *StagingFolder::add(StringRef Name,
                                     std::optional<sys::fs::file_status> Old) {
  StagedFile *New = new (Memory.Allocate<StagedFile>()) StagedFile;
  New->Name = Name;
  New->Old = Old;
  (Last ? Last->Next : First) = New;
  Last = New;
  return New;
}

std::string StagingFolder::pathOf(StringRef Name) const {
  return Path + Name.str();
}

std::string StagingFolder::targetOf(StringRef Name) const {
  return joined(Target, Name).str().str();
}

ErrorOr<int> StagingFolder::open(const StagedFile &File) const {
  if (isEnding())
    return make_error_code(std::errc::operation_canceled);
  int FD;
  if (std::error_code EC = sys::fs::openFileForWrite(pathOf(File.Name), FD,
                                                     sys::fs::CD_CreateNew))
    return EC;
  if (!File.Old)
    return FD;
  // If its owners can't be set to the old ones, its mode must not let others of
  // another group write to it.
  const bool IsGiven =
      ::fchown(FD, File.Old->getUser(), File.Old->getGroup()) == 0;
  const auto Mode = static_cast<mode_t>(File.Old->permissions()) & 0777;
  if (::fchmod(FD, IsGiven ? Mode : Mode & ~static_cast<mode_t>(022)) == 0)
    return FD;
  const std::error_code EC(errno, std::generic_category());
  (void)::close(FD);
  return EC;
}

Error StagingFolder::place(StagedFile &File) {
  const std::string To = targetOf(File.Name);
  const Exchange Done = exchange(pathOf(File.Name), To);
  if (!Done.Stranded.empty())
    Stranded = "`" + To + "` is not, what was there is `" + Done.Stranded + "`";
  if (Done.Failed)
    return createFileError(To, Done.Failed);
  File.IsPlaced = true;
  File.HasOld = Done.HasOld;
  return Error::success();
}

Error StagingFolder::commit() {
  if (K == Kind::Beside) {
    const std::error_code EC = sys::fs::rename(Path, Target);
    IsWhole = !EC;
    // Files stay in a target that somebody has made in the meantime.
    if (EC && !sys::fs::exists(Target))
      return createFileError(Target, EC);
  }
  for (StagedFile *F = First; F && !IsWhole; F = F->Next)
    if (Error E = place(*F))
      return E;
  return Error::success();
}

void StagingFolder::takeBack(StagedFile &File,
                             std::vector<std::string> &States) {
  const std::string From = pathOf(File.Name), To = targetOf(File.Name);
  // The new file can't be used: the old one replaces it, in one step.
  if (const std::error_code EC =
          File.HasOld ? sys::fs::rename(From, To) : sys::fs::rename(To, From)) {
    File.IsLeft = File.HasOld;
    States.push_back("`" + To + "` is new" +
                     (File.HasOld ? ", what was there is `" + From + "`" : "") +
                     " (" + EC.message() + ")");
  }
  File.IsPlaced = File.HasOld = false;
}

void StagingFolder::rollBack(std::vector<std::string> &States) {
  if (IsWhole) {
    if (const std::error_code EC = sys::fs::rename(Target, Path))
      States.push_back("`" + Target + "` is new (" + EC.message() + ")");
    IsWhole = false;
  }
  if (!Stranded.empty())
    States.push_back(Stranded);
  for (StagedFile *F = First; F; F = F->Next)
    if (F->IsPlaced)
      takeBack(*F, States);
}

Error StagingFolder::sync() const {
  // A file without a folder is only ever to be found in the target.
  const std::string &Folder = IsWhole || !isFolder() ? Target : Path;
  for (const std::string &Of :
       {Folder, IsWhole ? sys::path::parent_path(Target).str() : Target})
    if (sys::fs::is_directory(Of.empty() ? "." : Of))
      if (const std::error_code EC = syncFolder(Of))
        return createFileError(Of.empty() ? "." : Of, EC);
  return Error::success();
}

void StagingFolder::clean(std::vector<std::string> &Left) {
  if (!IsWhole && !removeAll(nullptr))
    (void)removeAll(&Left);
}

void StagingFolder::remove() noexcept {
  // While a handler runs, a writer on another thread may just be making its
  // file, each of them one.
  for (int Attempt = 0; Attempt != 64 && !IsWhole; ++Attempt)
    if (removeAll(nullptr))
      return;
}

/// Returns whether all files were removed. Allocates nothing without \p Left,
/// which receives the others: a handler must not.
bool StagingFolder::removeAll(std::vector<std::string> *Left) noexcept {
  char File[PATH_MAX + 1]; // the folder's path ends in a `/` here
  if (Path.size() >= sizeof(File))
    return true;
  char *Begin = std::copy(Path.begin(), Path.end(), File);
  bool IsGone = true;
  auto Remains = [&](const char *What) {
    IsGone = false;
    if (Left)
      Left->push_back(What);
  };
  for (const StagedFile *F = First; F; F = F->Next) {
    if (F->IsLeft || (F->IsPlaced && !F->HasOld) ||
        F->Name.size() >= static_cast<size_t>(std::end(File) - Begin))
      continue;
    *std::copy(F->Name.begin(), F->Name.end(), Begin) = '\0';
    if (::unlink(File) != 0 && errno != ENOENT)
      Remains(File);
  }
  if (K == Kind::None)
    return IsGone;
  Begin[-1] = '\0'; // the `/` may be one character too many for the system
  if (::rmdir(File) != 0 && errno != ENOENT)
    Remains(File);
  return IsGone;
}

std::string identityOf(StringRef Path) {
  SmallString<256> There(sys::path::is_absolute(Path) ? "/" : ".");
  SmallVector<StringRef, 8> Missing; // folders to be made in it
  for (const StringRef Part :
       make_range(sys::path::begin(Path), sys::path::end(Path))) {
    if (Part == "." || Part == "/")
      continue;
    if (Part == ".." && !Missing.empty()) {
      Missing.pop_back();
      continue;
    }
    SmallString<256> Next(There);
    sys::path::append(Next, Part);
    if (Missing.empty() && sys::fs::exists(Next))
      There = Next;
    else
      Missing.push_back(Part);
  }
  // The key is not the system's file id: it must stay the same once the missing
  // folders are made.
  SmallString<256> Real;
  if (sys::fs::real_path(There, Real))
    Real = There;
  for (const StringRef Part : Missing)
    sys::path::append(Real, Part);
  return Real.str().str();
}

} // namespace foretrace
