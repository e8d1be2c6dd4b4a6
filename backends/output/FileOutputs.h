// SPDX-License-Identifier: Apache-2.0
//
// The files of one run: written to folders beside their targets, renamed when
// every one of them is complete, removed otherwise.
#ifndef FORETRACE_BACKENDS_OUTPUT_FILEOUTPUTS_H
#define FORETRACE_BACKENDS_OUTPUT_FILEOUTPUTS_H

#include "backends/OutputSet.h"
#include "backends/output/StagingFolder.h"
#include "lang/Diagnostic.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Allocator.h"
#include <string>
#include <vector>

namespace foretrace {

/// An OutputSet on the file system.
///   * `-` is standard output; devices and pipes are written directly;
///   * the output folder, and folders in it that a file names, are created
///     when the first file needs them;
///   * what was not committed is removed, also when a signal ends the process;
///   * files that are added together are written by several threads.
class FileOutputs final : public OutputSet {
public:
  /// A file that was written.
  struct File {
    llvm::StringRef Path;
    uint64_t Bytes = 0;
    /// Where it is until it is committed; null if it is written directly.
    StagingFolder *Staging = nullptr;
  };

  /// Files go to \p Folder, or where we stand if it is empty. A \p Stream,
  /// unless empty, takes the first file in their place. \p Threads write them,
  /// or all processors if it is 0.
  FileOutputs(std::string Folder, std::string Stream, bool ShowsProgress,
              unsigned Threads = 0);
  ~FileOutputs() override;

  llvm::Error addAll(
      uint64_t Count, llvm::function_ref<std::string(uint64_t)> Name,
      llvm::function_ref<void(uint64_t, llvm::raw_ostream &)> Write) override;

  /// Gives all files their names. A signal waits until all have them.
  llvm::Error commit();

  llvm::ArrayRef<File> files() const { return Files; }
  /// Files left out because the output is a stream.
  llvm::ArrayRef<std::string> leftOut() const { return LeftOut; }

private:
  llvm::Error place(llvm::StringRef Name, bool IsAlone);
  llvm::Error createFolder(llvm::StringRef Path);
  llvm::Expected<StagingFolder *> makeStaging(llvm::StringRef Path,
                                              bool IsAlone);
  llvm::Error
  writeAll(llvm::MutableArrayRef<File> Added,
           llvm::function_ref<void(uint64_t, llvm::raw_ostream &)> Write);

  const std::string Folder;
  const std::string Stream;
  const bool ShowsProgress;
  const unsigned Threads;
  std::vector<std::unique_ptr<NewFolder>> Created; ///< parents first
  std::vector<std::unique_ptr<StagingFolder>> Stagings;
  llvm::StringMap<StagingFolder *> StagingOf; ///< by target
  std::vector<File> Files;
  llvm::BumpPtrAllocator PathMemory;
  llvm::DenseSet<llvm::StringRef> Names; ///< of Files that get one
  std::vector<std::string> LeftOut;
};

/// Writes a single file, or standard output if \p Path is `-`.
llvm::Error writeFile(llvm::StringRef Path, bool ShowsProgress,
                      llvm::function_ref<void(llvm::raw_ostream &)> Write);

/// Whether the folder of the file `-o` \p Path is there; reports if not. A path
/// that ends in `/` is a folder, which is made.
bool hasFolder(llvm::StringRef Path, DiagnosticEngine &Diags);

/// Whether \p Path is standard output, a device or a pipe.
bool isStream(llvm::StringRef Path);

} // namespace foretrace

#endif
