// SPDX-License-Identifier: Apache-2.0
//
// The texts that positions speak of: every file that was read, and every text
// that came from elsewhere, as -D does.
#pragma once

#include "lang/Source.h"
#include "llvm/ADT/IntrusiveRefCntPtr.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/ErrorOr.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/VirtualFileSystem.h"

namespace foretrace {

/// Reads files and numbers them. Texts are kept and never change: a file that
/// is opened again keeps its number if its text is the same, else it gets
/// another.
class SourceFiles {
public:
  /// Files come from \p System.
  explicit SourceFiles(llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> System =
                           llvm::vfs::getRealFileSystem())
      : System(std::move(System)) {}

  llvm::vfs::FileSystem &system() const { return *System; }
  /// Reads files from \p Other from now on.
  void setSystem(llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> Other) {
    System = std::move(Other);
  }

  /// Reads the file at \p Path; an error if it can't be read, is not a regular
  /// file, or is larger than `MaxTextSize`.
  llvm::ErrorOr<FileId> open(llvm::StringRef Path);
  /// Reads the file at \p Path, or standard input if that is `-`.
  llvm::ErrorOr<FileId> openOrStdin(llvm::StringRef Path);
  /// Takes a copy of \p Text, which messages call \p Name.
  FileId add(llvm::StringRef Text, llvm::StringRef Name);

  /// The path by which a file was opened, or what it was called.
  llvm::StringRef name(FileId File) const;
  SourceText text(FileId File) const;
  /// Returns the text in \p Range; empty if it has no place.
  llvm::StringRef slice(SourceRange Range) const;

  /// Both from 1; columns are bytes.
  struct LineColumn {
    unsigned Line;
    unsigned Column;
  };
  LineColumn locate(SourceLocation At) const;
  /// The place in a line; invalid if there is none.
  SourceLocation find(FileId File, unsigned Line, unsigned Column);

  /// The line that \p At is in, without its end.
  llvm::StringRef line(SourceLocation At) const;
  /// Returns whether \p File is the text of all `-D`.
  bool isCommandLine(FileId File) const {
    return name(File) == CommandLineName;
  }

  /// Returns the texts for LLVM's renderer of messages. Its numbers of buffers
  /// are those of files.
  const llvm::SourceMgr &forRenderer() const { return Buffers; }

private:
  llvm::ErrorOr<FileId>
  take(const llvm::ErrorOr<std::unique_ptr<llvm::MemoryBuffer>> &Read,
       llvm::StringRef Name);

  llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> System;
  llvm::SourceMgr Buffers;
  llvm::StringMap<FileId> Newest; ///< by name
};

/// Returns where a range begins, `job.fore:12`; empty if it is in no file.
std::string lineOf(const SourceFiles &Sources, SourceRange Range);
/// Where a range begins, `job.fore:12:7`; empty if it is written nowhere.
std::string placeOf(const SourceFiles &Sources, SourceRange Range);
/// Where a value was given, `job.fore:12:7` or `-D key=value`.
std::string describePlace(const SourceFiles &Sources, SourceRange Range);

} // namespace foretrace
