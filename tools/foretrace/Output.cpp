// SPDX-License-Identifier: Apache-2.0
#include "tools/foretrace/Output.h"
#include "tools/foretrace/Messages.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Signals.h"
#include <chrono>
#include <unistd.h>

using namespace llvm;

namespace foretrace {

namespace {
/// Forwards to a file descriptor in large pieces and shows on a terminal how
/// far it is once that takes long.
class ProgressStream final : public raw_ostream {
public:
  ProgressStream(int FD, StringRef Path)
      : Inner(FD, /*shouldClose=*/false, /*unbuffered=*/true), Path(Path),
        Shown(isQuiet() || !errs().is_displayed() ? Clock::time_point::max()
                                                  : Clock::now()) {
    SetBufferSize(1 << 20);
  }

  /// Writes out what is buffered; the bytes in all, or the first error.
  Expected<uint64_t> finish() {
    flush();
    if (HasShown)
      errs() << "\r\033[K";
    if (std::error_code EC = Inner.error()) {
      Inner.clear_error();
      return errorCodeToError(EC);
    }
    return Written;
  }

private:
  using Clock = std::chrono::steady_clock;

  void write_impl(const char *Data, size_t Size) override {
    if (!Inner.has_error())
      Inner.write(Data, Size);
    Written += Size;
    Clock::time_point Now = Clock::now();
    if (Now < Shown || Now - Shown < std::chrono::milliseconds(500))
      return;
    Shown = Now;
    HasShown = true;
    errs() << "\rwriting " << Path << ": " << (Written >> 20) << " MiB";
  }
  uint64_t current_pos() const override { return Written; }

  raw_fd_ostream Inner;
  StringRef Path;
  uint64_t Written = 0;
  Clock::time_point Shown;
  bool HasShown = false;
};
} // namespace

bool isStream(StringRef Path) {
  if (Path == "-")
    return true;
  sys::fs::file_status Status;
  if (sys::fs::status(Path, Status))
    return false;
  return Status.type() != sys::fs::file_type::regular_file &&
         Status.type() != sys::fs::file_type::directory_file;
}

bool hasFolder(StringRef Path, DiagnosticEngine &Diags) {
  StringRef Folder = sys::path::parent_path(Path);
  if (Path.ends_with("/") || Folder.empty() || sys::fs::exists(Folder))
    return true;
  Diags.report({}, diag::NoFolder, Path, Folder);
  return false;
}

FileOutputs::FileOutputs(std::string Folder, std::string Stream)
    : Folder(std::move(Folder)), Stream(std::move(Stream)) {}

FileOutputs::~FileOutputs() {
  for (File &F : Files)
    if (!F.Pending.empty()) {
      (void)sys::fs::remove(F.Pending);
      sys::DontRemoveFileOnSignal(F.Pending);
    }
  for (const std::string &Created : reverse(CreatedFolders))
    (void)sys::fs::remove(Created); // it stays if it isn't empty
}

/// Creates the folder and those above it that are not there.
Error FileOutputs::createFolder(StringRef Path) {
  if (Path.empty() || sys::fs::is_directory(Path))
    return Error::success();
  if (sys::fs::exists(Path))
    return createFileError(Path, make_error_code(std::errc::not_a_directory));
  if (Error E = createFolder(sys::path::parent_path(Path)))
    return E;
  if (std::error_code EC = sys::fs::create_directory(
          Path, /*IgnoreExisting=*/true, sys::fs::all_all))
    return createFileError(Path, EC);
  CreatedFolders.push_back(Path.str());
  return Error::success();
}

static Expected<uint64_t> writeTo(int FD, StringRef Path,
                                  function_ref<void(raw_ostream &)> Write) {
  ProgressStream OS(FD, Path);
  Write(OS);
  return OS.finish();
}

Error FileOutputs::addStream(StringRef Path,
                             function_ref<void(raw_ostream &)> Write) {
  int FD = STDOUT_FILENO;
  if (Path != "-")
    if (std::error_code EC =
            sys::fs::openFileForWrite(Path, FD, sys::fs::CD_OpenExisting))
      return createFileError(Path, EC);
  Expected<uint64_t> Bytes = writeTo(FD, Path, Write);
  std::error_code Closed;
  if (Path != "-")
    Closed = sys::fs::closeFile(FD);
  if (!Bytes)
    return createFileError(Path, Bytes.takeError());
  if (Closed)
    return createFileError(Path, Closed);
  Files.push_back({Path.str(), *Bytes});
  return Error::success();
}

Error FileOutputs::add(StringRef Name,
                       function_ref<void(raw_ostream &)> Write) {
  if (!Stream.empty() && !Files.empty()) {
    LeftOut.push_back(Name.str());
    return Error::success();
  }
  if (!Stream.empty())
    return addStream(Stream, Write);
  if (isStream(Name))
    return addStream(Name, Write);

  SmallString<256> Path;
  if (!sys::path::is_absolute(Name))
    Path = Folder;
  sys::path::append(Path, Name);
  if (isStream(Path))
    return addStream(Path, Write);
  if (!Names.insert(Path).second)
    return createFileError(
        Path, createStringError("the job writes two files of this name"));
  if (sys::fs::is_directory(Path))
    return createFileError(Path, make_error_code(std::errc::is_a_directory));
  if (Error E = createFolder(sys::path::parent_path(Path)))
    return E;

  int FD;
  SmallString<256> Pending;
  if (std::error_code EC = sys::fs::createUniqueFile(
          Path + ".%%%%%%%%.tmp", FD, Pending, sys::fs::OF_None,
          sys::fs::all_read | sys::fs::all_write))
    return createFileError(Path, EC);
  sys::RemoveFileOnSignal(Pending);
  Files.push_back({std::string(Path), 0, std::string(Pending)});
  Expected<uint64_t> Bytes = writeTo(FD, Path, Write);
  std::error_code Closed = sys::fs::closeFile(FD);
  if (!Bytes)
    return createFileError(Path, Bytes.takeError());
  if (Closed)
    return createFileError(Path, Closed);
  Files.back().Bytes = *Bytes;
  return Error::success();
}

Error FileOutputs::commit() {
  for (File &F : Files) {
    if (F.Pending.empty())
      continue;
    if (std::error_code EC = sys::fs::rename(F.Pending, F.Path))
      return createFileError(F.Path, EC);
    sys::DontRemoveFileOnSignal(F.Pending);
    F.Pending.clear();
    CreatedFolders.clear();
  }
  return Error::success();
}

} // namespace foretrace
