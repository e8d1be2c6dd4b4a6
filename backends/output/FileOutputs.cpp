// SPDX-License-Identifier: Apache-2.0
#include "backends/output/FileOutputs.h"
#include "backends/output/FileStream.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
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

bool isStream(StringRef Path) {
  sys::fs::file_status Status;
  (void)sys::fs::status(Path, Status);
  return Path == "-" || isStream(Status);
}

bool hasFolder(StringRef Path, DiagnosticEngine &Diags) {
  StringRef Folder = sys::path::parent_path(Path);
  if (Path.ends_with("/") || Folder.empty() || sys::fs::exists(Folder))
    return true;
  Diags.report({}, diag::NoFolder, Path, Folder);
  return false;
}

FileOutputs::FileOutputs(std::string Folder, std::string Stream,
                         bool ShowsProgress, unsigned Threads)
    : Folder(std::move(Folder)), Stream(std::move(Stream)),
      ShowsProgress(ShowsProgress), Threads(Threads) {}

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

/// Decides where the file \p Name is to be written.
Error FileOutputs::place(StringRef Name, bool IsAlone) {
  SmallString<256> Path;
  if (Name != "-" && !sys::path::is_absolute(Name))
    Path = Folder;
  sys::path::append(Path, Name);
  File New;
  New.Path = StringRef(Path).copy(PathMemory);
  StagingFolder *&Staging = StagingOf[sys::path::parent_path(New.Path)];
  sys::fs::file_status Status;
  if (!Staging || !Staging->isBesideTarget()) // else there is nothing yet
    (void)sys::fs::status(Path, Status);
  if (Path != "-" && !isStream(Status)) {
    if (!Names.insert(New.Path).second)
      return createFileError(
          Path, createStringError("the job writes two files of this name"));
    if (is_directory(Status))
      return createFileError(Path, make_error_code(std::errc::is_a_directory));
    if (!Staging || !(IsAlone || Staging->isFolder()))
      if (Error E = makeStaging(New.Path, IsAlone).moveInto(Staging))
        return E;
    New.Staging = Staging;
    Staging->add(sys::path::filename(New.Path));
  }
  Files.push_back(New);
  return Error::success();
}

static ErrorOr<int> open(const FileOutputs::File &F) {
  if (F.Staging)
    return F.Staging->open(sys::path::filename(F.Path));
  int FD = STDOUT_FILENO;
  if (F.Path != "-")
    if (std::error_code EC =
            sys::fs::openFileForWrite(F.Path, FD, sys::fs::CD_OpenExisting))
      return EC;
  return FD;
}

static std::error_code write(FileOutputs::File &F, MutableArrayRef<char> Buffer,
                             Progress &Shown,
                             function_ref<void(raw_ostream &)> Write) {
  ErrorOr<int> FD = open(F);
  if (!FD)
    return FD.getError();
  FileStream OS(*FD, Buffer, Shown);
  Write(OS);
  ErrorOr<uint64_t> Bytes = OS.finish();
  std::error_code Closed;
  if (F.Path != "-")
    Closed = sys::fs::closeFile(*FD);
  if (!Bytes)
    return Bytes.getError();
  F.Bytes = *Bytes;
  Shown.addFile();
  return Closed;
}

/// Writes what was added. Of several errors the first file's is returned:
/// files are begun in their order, so all before it have come to their end.
Error FileOutputs::writeAll(MutableArrayRef<File> Added,
                            function_ref<void(uint64_t, raw_ostream &)> Write) {
  constexpr size_t BufferSize = 1 << 20;
  if (Added.empty())
    return Error::success();
  Progress Shown(ShowsProgress, Added.front().Path, Added.size());
  std::atomic<size_t> Next = 0, Failed = Added.size();
  std::mutex Failing;
  std::error_code Why;
  auto Work = [&] {
    const std::unique_ptr<char[]> Buffer(new char[BufferSize]);
    for (size_t I = Next++; I < Failed; I = Next++) {
      const std::error_code EC =
          write(Added[I], {Buffer.get(), BufferSize}, Shown,
                [&](raw_ostream &OS) { Write(I, OS); });
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
    DefaultThreadPool Pool(hardware_concurrency(Threads));
    const size_t Workers =
        std::min<size_t>(Pool.getMaxConcurrency(), Added.size());
    for (size_t I = 0; I != Workers; ++I)
      Pool.async(Work);
    Pool.wait();
  }
  if (Why)
    return createFileError(Added[Failed].Path, Why);
  return Error::success();
}

Error FileOutputs::addAll(uint64_t Count,
                          function_ref<std::string(uint64_t)> Name,
                          function_ref<void(uint64_t, raw_ostream &)> Write) {
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

Error FileOutputs::commit() {
  {
    SignalHold Hold;
    for (const std::unique_ptr<StagingFolder> &S : Stagings)
      if (Error E = S->commit())
        return E;
    for (const std::unique_ptr<NewFolder> &F : Created)
      F->keep();
  }
  StagingOf.clear();
  Stagings.clear();
  Created.clear();
  return Error::success();
}

Error writeFile(StringRef Path, bool ShowsProgress,
                function_ref<void(raw_ostream &)> Write) {
  FileOutputs Out("", isStream(Path) ? Path.str() : "", ShowsProgress);
  if (Error E = Out.add(Path, Write))
    return E;
  return Out.commit();
}

} // namespace foretrace
