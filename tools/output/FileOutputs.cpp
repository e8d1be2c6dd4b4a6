// SPDX-License-Identifier: Apache-2.0
#include "tools/output/FileOutputs.h"
#include "lang/NumberText.h"
#include "lang/diagnostics/Backends.h"
#include "lang/diagnostics/Lang.h"
#include "tools/output/Exchange.h"
#include "tools/output/StagingFolder.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/ThreadPool.h"
#include <atomic>
#include <mutex>
#include <unistd.h>

using namespace llvm;

namespace foretrace {

static bool isStream(const sys::fs::file_status &S) {
  return exists(S) && !is_regular_file(S) && !is_directory(S);
}

/// Returns the descriptor that a shell has opened: opening the file again by
/// its name would empty it, or write from its start.
static std::optional<int> openedByShell(StringRef Path) {
  int FD;
  if (Path == "-" || Path == "/dev/stdout")
    return STDOUT_FILENO;
  if (Path == "/dev/stderr")
    return STDERR_FILENO;
  if ((Path.consume_front("/dev/fd/") ||
       Path.consume_front("/proc/self/fd/")) &&
      !Path.getAsInteger(10, FD))
    return FD;
  return std::nullopt;
}

bool isStream(StringRef Path) {
  sys::fs::file_status Status;
  (void)sys::fs::status(Path, Status);
  return openedByShell(Path) || isStream(Status);
}

bool hasFolder(StringRef Path, DiagnosticEngine &Diags) {
  StringRef Folder = sys::path::parent_path(Path);
  if (Path.ends_with("/") || Folder.empty() || sys::fs::exists(Folder))
    return true;
  Diags.report({}, diag::NoFolder, Path, Folder);
  return false;
}

char OutputLimit::ID;

void OutputLimit::log(raw_ostream &OS) const {
  if (FullFolder.empty())
    OS << "more than " << Limit
       << " bytes in all; the limit is that of --max-output";
  else
    OS << "more than the " << Limit << " bytes that are free in `" << FullFolder
       << "`";
}

std::error_code OutputLimit::convertToErrorCode() const {
  return make_error_code(std::errc::file_too_large);
}

FileOutputs::FileOutputs(std::string Folder, std::string Stream,
                         OutputOptions Options, InputFiles Inputs)
    : Folder(std::move(Folder)), Stream(std::move(Stream)), Options(Options),
      Inputs(std::move(Inputs)) {}

FileOutputs::~FileOutputs() {
  Stagings.clear();
  while (!Created.empty())
    Created.pop_back();
}

/// Creates the folder and those above it that are not there.
Error FileOutputs::createFolder(StringRef Path) {
  if (Path.empty() || sys::fs::is_directory(Path))
    return Error::success();
  if (sys::fs::exists(Path))
    return createFileError(Path, make_error_code(std::errc::not_a_directory));
  if (Error E = createFolder(sys::path::parent_path(Path)))
    return E;
  auto Made = NewFolder::make(Path);
  if (!Made)
    return createFileError(Path, Made.getError());
  if (*Made)
    Created.push_back(std::move(*Made));
  return Error::success();
}

/// A staging folder for the file \p Path and those beside it, which are written
/// at once unless the file is alone.
Expected<StagingFolder *> FileOutputs::makeStaging(StringRef Path,
                                                   bool IsAlone) {
  const StringRef Target = sys::path::parent_path(Path);
  if (Error E = createFolder(sys::path::parent_path(Target)))
    return E;
  if (!Target.empty() && sys::fs::exists(Target) &&
      !sys::fs::is_directory(Target))
    return createFileError(Target, make_error_code(std::errc::not_a_directory));
  auto Made = StagingFolder::make(Target, IsAlone);
  if (!Made)
    return createFileError(Path, Made.getError());
  Stagings.push_back(std::move(*Made));
  return Stagings.back().get();
}

StringRef FileOutputs::folderOf(StringRef Path) {
  const StringRef Folder = sys::path::parent_path(Path);
  const auto [It, IsNew] = Identities.try_emplace(Folder);
  if (IsNew)
    It->second = identityOf(Folder);
  return It->second;
}

/// Checks that the file at \p Path, if there is one, may be replaced.
static Error checkReplaced(StringRef Path, const sys::fs::file_status &Old,
                           const InputFiles &Inputs) {
  if (is_directory(Old))
    return createFileError(Path, make_error_code(std::errc::is_a_directory));
  if (!exists(Old))
    return Error::success();
  if (Error E = Inputs.check(Path, Old))
    return E;
  if (!(Old.permissions() & sys::fs::all_write)) // also of root's
    return createFileError(Path, createStringError("it is read-only"));
  return sys::fs::can_write(Path)
             ? Error::success()
             : createFileError(Path,
                               std::error_code(errno, std::generic_category()));
}

/// Takes the name \p Name in \p Folder for the file at \p Path, unless another
/// file has it, or is where a folder is to be.
Error FileOutputs::claim(StringRef Path, StringRef Folder, StringRef Name) {
  const std::string Whole = (Folder + "/" + Name).str();
  if (!Names.insert(Whole).second)
    return createFileError(
        Path, createStringError("the job writes two files of this name"));
  if (Above.contains(Whole))
    return createFileError(
        Path, createStringError("the job writes files below this name"));
  for (StringRef Up = Folder; !Up.empty() && Above.insert(Up).second;
       Up = sys::path::parent_path(Up))
    if (Names.contains(Up))
      return createFileError(
          Path, createStringError("the job writes `" + Up + "` as a file"));
  return Error::success();
}

/// Writes \p New to a staging folder, until it is placed at \p At in place of
/// \p Old.
Error FileOutputs::stage(File &New, StringRef At,
                         const sys::fs::file_status &Old, bool IsAlone) {
  const StringRef Folder = folderOf(At), Name = sys::path::filename(At);
  if (Error E = claim(New.Path, Folder, Name))
    return E;
  if (Error E = checkReplaced(New.Path, Old, Inputs))
    return E;
  StagingFolder *&Staging = StagingOf[Folder];
  if (!Staging || !(IsAlone || Staging->isFolder()))
    if (Error E = makeStaging(At, IsAlone).moveInto(Staging))
      return E;
  New.Staging = Staging;
  New.Staged = Staging->add(Name.copy(PathMemory),
                            exists(Old) ? std::optional(Old) : std::nullopt);
  return Error::success();
}

/// Decides where the file \p Name is to be written.
Error FileOutputs::place(StringRef Name, bool IsAlone) {
  SmallString<256> Path;
  if (Name != "-" && !sys::path::is_absolute(Name))
    Path = Folder;
  sys::path::append(Path, Name);
  File New;
  New.Path = StringRef(Path).copy(PathMemory);
  sys::fs::file_status Status;
  const StagingFolder *Staging = StagingOf.lookup(folderOf(Path));
  if (!Staging || !Staging->isBesideTarget()) // else it has no files yet
    (void)sys::fs::status(Path, Status, /*follow=*/false);
  if (is_symlink_file(Status)) {
    (void)sys::fs::status(New.Path, Status);
    if (!isStream(New.Path) && sys::fs::real_path(New.Path, Path))
      return createFileError(New.Path,
                             createStringError("a link to what is not there"));
  }
  if (!openedByShell(New.Path) && !isStream(Status))
    if (Error E = stage(New, Path, Status, IsAlone))
      return E;
  Files.push_back(New);
  return Error::success();
}

static ErrorOr<int> open(const FileOutputs::File &F) {
  if (F.Staging)
    return F.Staging->open(*F.Staged);
  if (const std::optional<int> Opened = openedByShell(F.Path))
    return *Opened;
  int FD;
  if (std::error_code EC =
          sys::fs::openFileForWrite(F.Path, FD, sys::fs::CD_OpenExisting))
    return EC;
  return FD;
}

std::error_code FileOutputs::write(File &F, MutableArrayRef<char> Buffer,
                                   Progress &Shown,
                                   function_ref<void(OutputStream &)> Write) {
  ErrorOr<int> FD = open(F);
  if (!FD)
    return FD.getError();
  FileStream OS(*FD, Buffer, Shown);
  if (F.Staging)
    OS.limit(Written, Limit);
  Write(OS);
  ErrorOr<uint64_t> Bytes = OS.finish();
  std::error_code Closed;
  if (Options.IsDurable && F.Staging && ::fsync(*FD) != 0)
    Closed = {errno, std::generic_category()};
  if (!openedByShell(F.Path))
    if (const std::error_code EC = sys::fs::closeFile(*FD); !Closed)
      Closed = EC;
  if (!Bytes)
    return Bytes.getError();
  F.Bytes = *Bytes;
  Shown.addFile();
  return Closed;
}

/// Returns the free bytes in the file system of \p Folder, or of the one that
/// it will be made in.
static uint64_t freeBytes(StringRef Folder) {
  while (!Folder.empty() && !sys::fs::exists(Folder))
    Folder = sys::path::parent_path(Folder);
  const ErrorOr<sys::fs::space_info> Space =
      sys::fs::disk_space(Folder.empty() ? "." : Folder);
  return Space ? Space->available : UINT64_MAX;
}

/// Writes what was added. Of several errors the first file's is returned:
/// files are begun in their order, so all before it have come to their end.
Error FileOutputs::writeAll(
    MutableArrayRef<File> Added,
    function_ref<void(uint64_t, OutputStream &)> Write) {
  constexpr size_t BufferSize = 1 << 20;
  if (Added.empty())
    return Error::success();
  const StringRef Target = sys::path::parent_path(Added.front().Path);
  const uint64_t Free = freeBytes(Target);
  Limit =
      std::min<uint64_t>(Options.MaxBytes, SaturatingAdd(Written.load(), Free));
  Progress Shown(Options.ShowsProgress, Added.front().Path, Added.size());
  std::atomic<size_t> Next = 0, Failed = Added.size();
  std::mutex Failing;
  std::error_code Why;
  auto Work = [&] {
    const std::unique_ptr<char[]> Buffer(new char[BufferSize]);
    for (size_t I = Next++; I < Failed; I = Next++) {
      const std::error_code EC =
          write(Added[I], {Buffer.get(), BufferSize}, Shown,
                [&](OutputStream &OS) { Write(I, OS); });
      if (!EC)
        continue;
      const std::lock_guard<std::mutex> Guard(Failing);
      if (I < Failed) {
        Failed = I;
        Why = EC;
      }
    }
  };
  if (Added.size() == 1) {
    Work();
  } else {
    DefaultThreadPool Pool(hardware_concurrency(Options.Threads));
    const size_t Workers =
        std::min<size_t>(Pool.getMaxConcurrency(), Added.size());
    for (size_t I = 0; I != Workers; ++I)
      Pool.async(Work);
    Pool.wait();
  }
  if (!Why)
    return Error::success();
  if (Why == std::errc::file_too_large && Written > Limit)
    return Limit == Options.MaxBytes
               ? make_error<OutputLimit>(Limit, "")
               : make_error<OutputLimit>(Free,
                                         Target.empty() ? "." : Target.str());
  return createFileError(Added[Failed].Path, Why);
}

Error FileOutputs::addAll(uint64_t Count,
                          function_ref<std::string(uint64_t)> Name,
                          function_ref<void(uint64_t, OutputStream &)> Write) {
  const size_t Before = Files.size();
  if (Stream.empty()) {
    for (uint64_t I = 0; I != Count; ++I)
      if (Error E = place(Name(I), Count == 1))
        return E;
  } else {
    if (Files.empty() && Count != 0)
      Files.push_back({StringRef(Stream).copy(PathMemory)});
    for (uint64_t I = Files.size() - Before; I != Count; ++I)
      LeftOut.push_back(Name(I));
  }
  return writeAll(MutableArrayRef(Files).drop_front(Before), Write);
}

/// Writes out what folders say of the files, before or after commit().
Error FileOutputs::sync() {
  if (!Options.IsDurable)
    return Error::success();
  for (const std::unique_ptr<StagingFolder> &S : Stagings)
    if (Error E = S->sync())
      return E;
  for (const std::unique_ptr<NewFolder> &F : Created)
    if (const std::error_code EC = syncFolder(F->parent().str()))
      return createFileError(F->parent(), EC);
  return Error::success();
}

/// Undoes the commits, newest first; returns \p Why with what could not be
/// undone.
Error FileOutputs::takeBack(Error Why) {
  std::vector<std::string> States;
  for (const std::unique_ptr<StagingFolder> &S : reverse(Stagings))
    S->rollBack(States);
  return createStringError(
      toString(std::move(Why)) +
      (States.empty()
           ? "; all files are as they were"
           : "; all other files are as they were, but " + join(States, ", ")));
}

Error FileOutputs::commit() {
  std::vector<std::string> Left;
  {
    SignalHold Hold;
    Error Failed = sync();
    for (const std::unique_ptr<StagingFolder> &S : Stagings)
      if (!Failed)
        Failed = S->commit();
    if (!Failed)
      Failed = sync();
    if (Failed)
      return takeBack(std::move(Failed));
    for (const std::unique_ptr<NewFolder> &F : Created)
      F->keep();
    for (const std::unique_ptr<StagingFolder> &S : Stagings)
      S->clean(Left);
  }
  StagingOf.clear();
  Stagings.clear();
  Created.clear();
  if (Left.empty())
    return Error::success();
  return createStringError("all files are written, but `" + join(Left, "`, `") +
                           "` could not be removed; it is of no use");
}

Error writeFile(StringRef Path, const OutputOptions &Options, InputFiles Inputs,
                function_ref<void(OutputStream &)> Write) {
  FileOutputs Out("", isStream(Path) ? Path.str() : "", Options,
                  std::move(Inputs));
  if (Error E = Out.add(Path, Write))
    return E;
  return Out.commit();
}

void reportOutput(Error E, SourceRange Where, DiagnosticEngine &Diags) {
  handleAllErrors(
      std::move(E),
      [&](const OverwritesInput &O) {
        Diags.report(Where, diag::OverwritesInput, O.Path, O.Input)
            .note({}, diag::OutputElsewhere);
      },
      [&](const OutputLimit &L) {
        const auto Limit = static_cast<double>(L.Limit);
        if (!L.FullFolder.empty())
          Diags.report(Where, diag::OutputNoSpace, printBytes(Limit),
                       L.FullFolder);
        else
          Diags
              .report(Where, diag::OutputTooLarge, printBytes(Limit + 1),
                      printBytes(Limit))
              .note({}, diag::RaiseMaxOutput);
      },
      [&](const ErrorInfoBase &Other) {
        Diags.report(Where, diag::CannotWrite, Other.message());
      });
}

} // namespace foretrace
