// SPDX-License-Identifier: Apache-2.0
//
// Folders that are there for the time of a run.
#ifndef FORETRACE_BACKENDS_OUTPUT_STAGINGFOLDER_H
#define FORETRACE_BACKENDS_OUTPUT_STAGINGFOLDER_H

#include "backends/output/Leftover.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Allocator.h"
#include "llvm/Support/Error.h"
#include <atomic>
#include <memory>
#include <string>

namespace foretrace {

/// A folder that was made for files to come. Removed again when it is
/// destroyed, unless it is kept.
class NewFolder final : public Leftover {
public:
  /// Makes \p Path, whose parent is there. One that somebody else has made in
  /// the meantime will do: it is null then.
  static llvm::ErrorOr<std::unique_ptr<NewFolder>> make(llvm::StringRef Path);
  ~NewFolder();

  /// Something stands in it. Needs a SignalHold.
  void keep();

private:
  explicit NewFolder(llvm::StringRef Path) : Path(Path) {}
  void remove() noexcept override;

  const std::string Path;
  bool IsKept = false;
};

/// Where the files of a folder, the target, stand until they are complete. A
/// folder beside the target takes its place, all files at once. If there is a
/// target already the folder stands in it, and the files are renamed; to make
/// and remove a folder takes longer than to write a small file, so a file alone
/// gets by without. Removed, with the files, when it is destroyed.
class StagingFolder final : public Leftover {
public:
  /// Makes one in \p Target, which is empty for where we stand, or in its
  /// parent if there is no target. \p IsForOne: for files that are written one
  /// after the other.
  static llvm::ErrorOr<std::unique_ptr<StagingFolder>>
  make(llvm::StringRef Target, bool IsForOne);
  ~StagingFolder();

  /// Whether there was no target.
  bool isBesideTarget() const { return K == Kind::Beside; }
  /// Whether several threads may write to it.
  bool isFolder() const { return K != Kind::None; }
  /// Announces a file. \p Name outlives the folder.
  void add(llvm::StringRef Name);
  /// Opens an announced file to write it. Fails if a signal is ending the
  /// process.
  llvm::ErrorOr<int> open(llvm::StringRef Name) const;
  /// Moves all files to the target, in place of what is there. Needs a
  /// SignalHold.
  llvm::Error commit();

private:
  /// A list, not a vector: it can be read, by a handler of signals, while it
  /// grows.
  struct Entry {
    llvm::StringRef Name;
    std::atomic<Entry *> Next = nullptr;
  };

  /// None: the path is what names of files begin with.
  enum class Kind { Beside, Within, None };

  StagingFolder(llvm::StringRef Path, llvm::StringRef Target, Kind K)
      : Path(Path), Target(Target), K(K) {}
  void remove() noexcept override;
  std::string pathOf(llvm::StringRef Name) const;

  const std::string Path, Target;
  const Kind K;
  llvm::BumpPtrAllocator Memory;
  std::atomic<Entry *> First = nullptr;
  Entry *Last = nullptr;
};

} // namespace foretrace

#endif
