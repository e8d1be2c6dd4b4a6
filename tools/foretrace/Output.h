// SPDX-License-Identifier: Apache-2.0
//
// The files of one run: written beside their targets under temporary names,
// renamed when every one of them is complete, removed otherwise.
#ifndef FORETRACE_TOOLS_OUTPUT_H
#define FORETRACE_TOOLS_OUTPUT_H

#include "backends/Backend.h"
#include "lang/Diagnostic.h"
#include "llvm/ADT/StringSet.h"
#include <string>
#include <vector>

namespace foretrace {

/// An OutputSet on the file system.
///   * `-` is standard output; devices and pipes are written directly;
///   * the output folder, and folders in it that a file names, are created
///     when the first file needs them;
///   * what was not committed is removed, also when a signal ends the process.
class FileOutputs final : public OutputSet {
public:
  /// A file that was written.
  struct File {
    std::string Path;
    uint64_t Bytes = 0;
    std::string Pending = ""; ///< where it is until it gets its name
  };

  /// Files go to \p Folder, or where we stand if it is empty. A \p Stream,
  /// unless empty, takes the first file in their place.
  FileOutputs(std::string Folder, std::string Stream);
  ~FileOutputs() override;

  llvm::Error add(llvm::StringRef Path,
                  llvm::function_ref<void(llvm::raw_ostream &)> Write) override;

  /// Gives all files their names.
  llvm::Error commit();

  llvm::ArrayRef<File> files() const { return Files; }
  /// Files left out because the output is a stream.
  llvm::ArrayRef<std::string> leftOut() const { return LeftOut; }

private:
  llvm::Error addStream(llvm::StringRef Path,
                        llvm::function_ref<void(llvm::raw_ostream &)> Write);

  llvm::Error createFolder(llvm::StringRef Path);

  std::string Folder;
  std::string Stream;
  std::vector<std::string> CreatedFolders; ///< and nothing was committed
  std::vector<File> Files;
  llvm::StringSet<> Names; ///< of Files
  std::vector<std::string> LeftOut;
};

/// Whether the folder of the file `-o` \p Path is there; reports if not. A path
/// that ends in `/` is a folder, which is made.
bool hasFolder(llvm::StringRef Path, DiagnosticEngine &Diags);

/// Whether \p Path is standard output, a device or a pipe.
bool isStream(llvm::StringRef Path);

} // namespace foretrace

#endif
