// SPDX-License-Identifier: Apache-2.0
//
// A sweep that several processes do: the commands of its shards, and the one
// that merges what they found. Who runs them is another matter: this machine,
// or a cluster (Slurm.h).
#pragma once

#include "tools/sweep/Engine.h"
#include "tools/sweep/Shell.h"

namespace foretrace::sweep {

/// One process of a sweep.
struct Part {
  std::string Name;                 ///< as messages have it
  std::vector<std::string> Command; ///< of the folder that we are in
};

struct Parts {
  /// Of the sweep that \p Command does, in \p Count shards. What they need is
  /// in a folder beside \p Output, for every \p Count in other files.
  Parts(llvm::ArrayRef<std::string> Command, llvm::StringRef Output,
        unsigned Count);

  /// A file of a shard, in the folder.
  static std::string fileOf(const llvm::Twine &Shard, unsigned Count,
                            llvm::StringRef Suffix);

  std::string Output; ///< the database that all is merged to
  std::string Folder;
  std::vector<Part> Shards; ///< the first one is 1
  Part Merge;               ///< once all shards are done
};

/// Whether \p Output has all points of \p S. An error if it is something else
/// than their database, or has some of them: parts do not go on with it.
llvm::Expected<bool> isDone(const Sweep &S, llvm::StringRef Output);
/// Makes the folder.
llvm::Error makeFolder(const Parts &P);

/// Runs \p P on this machine, \p AtOnce shards at a time.
llvm::Error runHere(const Parts &P, unsigned AtOnce);

} // namespace foretrace::sweep
