// SPDX-License-Identifier: Apache-2.0
//
// Folders that are there for the time of a run.
#pragma once

#include "tools/output/Leftover.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Allocator.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace foretrace {

/// A folder made for later files. The destructor removes it, unless it is kept.
class NewFolder final : public Leftover {
public:
  /// Makes \p Path, whose parent exists. Returns null if somebody else has made
  /// it in the meantime.
  static llvm::ErrorOr<std::unique_ptr<NewFolder>> make(llvm::StringRef Path);
  ~NewFolder();

  /// Keeps the folder, as it is in use. Needs a SignalHold.
  void keep();
  /// Returns its parent; empty: the working directory.
  llvm::StringRef parent() const { return llvm::sys::path::parent_path(Path); }

private:
  explicit NewFolder(llvm::StringRef Path) : Path(Path) {}
  void remove() noexcept override;

  const std::string Path;
  bool IsKept = false;
};

/// A file that is being written in its temporary place.
struct StagedFile {
  llvm::StringRef Name;
  /// The file that it replaces, whose owner and mode it gets.
  std::optional<llvm::sys::fs::file_status> Old;

private:
  friend class StagingFolder;
  bool IsPlaced = false; ///< it has its final name
  bool HasOld = false;   ///< then the staged file is the old one
  bool IsLeft = false;   ///< the staged file is not to be removed
  /// A list, not a vector: it can be read, by a handler of signals, while it
  /// grows.
  std::atomic<StagedFile *> Next = nullptr;
};

/// A folder for the files of another one, the target, until they are complete.
/// If there is no target, the folder is made beside it and renamed, with all
/// files at once. Otherwise it is made in the target, and each file is renamed;
/// a single file needs no folder, which would take longer than the file. The
/// destructor removes it with its files; if the process was killed, the next
/// one that makes a folder beside it does.
class StagingFolder final : public Leftover {
public:
  /// Makes a folder in \p Target, which is empty for the working directory, or
  /// in its parent if there is no target. \p IsForOne: for files that are
  /// written one after the other.
  static llvm::ErrorOr<std::unique_ptr<StagingFolder>>
  make(llvm::StringRef Target, bool IsForOne);
  ~StagingFolder();

  /// Returns whether there was no target.
  bool isBesideTarget() const { return K == Kind::Beside; }
  /// Returns whether several threads may write to it.
  bool isFolder() const { return K != Kind::None; }
  /// Announces a file. \p Name outlives the folder.
  const StagedFile *add(llvm::StringRef Name,
                        std::optional<llvm::sys::fs::file_status> Old);
  /// Opens an announced file to write it. Fails if a signal is ending the
  /// process.
  llvm::ErrorOr<int> open(const StagedFile &File) const;

  // Each needs a SignalHold.
  /// Moves all files to the target, and what is there to here. After an error
  /// some may be moved.
  llvm::Error commit();
  /// Undoes the commit; adds to \p States what could not be undone, and where
  /// those files are now.
  void rollBack(std::vector<std::string> &States);
  /// Removes what is left here. Adds what can't be removed to \p Left.
  void clean(std::vector<std::string> &Left);
  /// Writes out which files are here, or, after commit(), in the target.
  llvm::Error sync() const;

private:
  /// None: the path is what names of files begin with.
  enum class Kind { Beside, Within, None };

  StagingFolder(llvm::StringRef Path, llvm::StringRef Target, Kind K,
                std::optional<int> Lock)
      : Path(Path), Target(Target), K(K), Lock(Lock) {}
  void remove() noexcept override;
  bool removeAll(std::vector<std::string> *Left) noexcept;
  llvm::Error place(StagedFile &File);
  void takeBack(StagedFile &File, std::vector<std::string> &States);
  std::string pathOf(llvm::StringRef Name) const;
  std::string targetOf(llvm::StringRef Name) const;

  const std::string Path, Target;
  const Kind K;
  /// An open file whose lock shows other processes that this one is alive.
  const std::optional<int> Lock;
  bool IsWhole = false; ///< it has become the target
  /// Which file is not as it was, though its step failed, and where that is.
  std::string Stranded;
  llvm::BumpPtrAllocator Memory;
  std::atomic<StagedFile *> First = nullptr;
  StagedFile *Last = nullptr;
};

/// Returns the same text for all paths of the folder \p Path, through links, `.`
/// and `..`, whether or not it exists yet. An empty path is the working folder.
std::string identityOf(llvm::StringRef Path);

} // namespace foretrace
