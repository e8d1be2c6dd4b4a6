// SPDX-License-Identifier: Apache-2.0
//
// The files of one run: written to folders beside their targets, renamed when
// every one of them is complete, removed otherwise.
#pragma once

#include "backends/OutputSet.h"
#include "lang/Diagnostic.h"
#include "tools/output/FileStream.h"
#include "tools/output/InputFiles.h"
#include "tools/output/StagingFolder.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Allocator.h"
#include <string>
#include <vector>

namespace foretrace {

/// How files are written.
struct OutputOptions {
  bool ShowsProgress = false;
  /// Committed files survive a loss of power.
  bool IsDurable = false;
  /// Threads that write files; 0: as many as there are processors.
  unsigned Threads = 0;
  /// Bytes of all files, streams apart; more are not written, nor more than
  /// the file system has free.
  uint64_t MaxBytes = UINT64_MAX;
};

/// The error that files are not written since they have too many bytes.
class OutputLimit final : public llvm::ErrorInfo<OutputLimit> {
public:
  static char ID;
  OutputLimit(uint64_t Limit, std::string FullFolder)
      : Limit(Limit), FullFolder(std::move(FullFolder)) {}

  void log(llvm::raw_ostream &OS) const override;
  std::error_code convertToErrorCode() const override;

  const uint64_t Limit;
  /// The folder that has not more room; empty if `--max-output` is the limit.
  const std::string FullFolder;
};

/// An OutputSet on the file system.
///   * `-` is standard output; devices and pipes are written directly;
///   * the output folder, and folders in it that a file names, are created
///     when the first file needs them;
///   * no input is overwritten, nor a read-only file; a link stays, and its
///     target is replaced; a file that is replaced keeps its mode;
///   * uncommitted files are removed, also when a signal ends the process;
///   * files that are added together are written by several threads.
class FileOutputs final : public OutputSet {
public:
  /// A file that was written.
  struct File {
    llvm::StringRef Path;
    uint64_t Bytes = 0;
    /// The folder that has it until it is committed; null if written directly.
    StagingFolder *Staging = nullptr;
    const StagedFile *Staged = nullptr;
  };

  /// Writes files to \p Folder, or to the working directory if it is empty. A
  /// \p Stream, unless empty, takes the first file instead. No input is
  /// replaced.
  FileOutputs(std::string Folder, std::string Stream, OutputOptions Options,
              InputFiles Inputs = {});
  ~FileOutputs() override;

  llvm::Error
  addAll(uint64_t Count, llvm::function_ref<std::string(uint64_t)> Name,
         llvm::function_ref<void(uint64_t, OutputStream &)> Write) override;

  /// Returns the inputs, which no file replaces.
  InputFiles &inputs() { return Inputs; }

  /// Renames all files to their final names, or none: after an error nothing
  /// has changed, except what the error names. Signals wait until it is done.
  llvm::Error commit();

  llvm::ArrayRef<File> files() const { return Files; }
  /// Files left out because the output is a stream.
  llvm::ArrayRef<std::string> leftOut() const { return LeftOut; }

private:
  llvm::Error place(llvm::StringRef Name, bool IsAlone);
  llvm::Error claim(llvm::StringRef Path, llvm::StringRef Folder,
                    llvm::StringRef Name);
  llvm::Error stage(File &New, llvm::StringRef At,
                    const llvm::sys::fs::file_status &Old, bool IsAlone);
  llvm::StringRef folderOf(llvm::StringRef Path);
  llvm::Error createFolder(llvm::StringRef Path);
  llvm::Expected<StagingFolder *> makeStaging(llvm::StringRef Path,
                                              bool IsAlone);
  llvm::Error
  writeAll(llvm::MutableArrayRef<File> Added,
           llvm::function_ref<void(uint64_t, OutputStream &)> Write);
  std::error_code write(File &F, llvm::MutableArrayRef<char> Buffer,
                        Progress &Shown,
                        llvm::function_ref<void(OutputStream &)> Write);
  llvm::Error sync();
  llvm::Error takeBack(llvm::Error Why);

  const std::string Folder;
  const std::string Stream;
  const OutputOptions Options;
  InputFiles Inputs;
  std::vector<std::unique_ptr<NewFolder>> Created; ///< parents first
  std::vector<std::unique_ptr<StagingFolder>> Stagings;
  llvm::StringMap<std::string> Identities;    ///< of folders, by path
  llvm::StringMap<StagingFolder *> StagingOf; ///< by identity of the target
  std::vector<File> Files;
  llvm::BumpPtrAllocator PathMemory;
  llvm::StringSet<>
      Names; ///< of those Files with one, by their folder's identity
  llvm::StringSet<> Above; ///< identities of folders that contain them
  std::atomic<uint64_t> Written = 0; ///< or to be, of staged files
  uint64_t Limit = UINT64_MAX;       ///< of Written, in the last writeAll()
  std::vector<std::string> LeftOut;
};

/// Writes a single file, or standard output if \p Path is `-`.
llvm::Error writeFile(llvm::StringRef Path, const OutputOptions &Options,
                      InputFiles Inputs,
                      llvm::function_ref<void(OutputStream &)> Write);

/// Reports why files were not written.
void reportOutput(llvm::Error E, SourceRange Where, DiagnosticEngine &Diags);

/// Returns whether the folder of the file `-o` \p Path is there; reports if
/// not. A path that ends in `/` is a folder, which is made.
bool hasFolder(llvm::StringRef Path, DiagnosticEngine &Diags);

/// Returns whether \p Path is standard output, a device or a pipe.
bool isStream(llvm::StringRef Path);

} // namespace foretrace
