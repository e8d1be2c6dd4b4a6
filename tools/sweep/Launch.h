// SPDX-License-Identifier: Apache-2.0
//
// Has several processes do a sweep: on this machine, or as jobs of Slurm.
#pragma once

#include "tools/output/InputFiles.h"
#include "tools/sweep/Engine.h"
#include "llvm/Support/raw_ostream.h"
#include <optional>

namespace foretrace::sweep {

enum class LaunchEngine : unsigned char { Local, Slurm };

struct LaunchOptions {
  LaunchEngine Engine = LaunchEngine::Local;
  std::optional<unsigned> Shards; ///< none: a single process
  /// Threads of this machine, or of a Slurm task; 0: all.
  unsigned Threads = 0;
  std::vector<std::string> Slurm; ///< arguments for `sbatch`
  bool Waits = false;             ///< for jobs of Slurm
  std::string Output;             ///< the database
  InputFiles Inputs;              ///< none is replaced

  bool isWanted() const { return Shards || Engine != LaunchEngine::Local; }
  /// Reports missing and contradictory options. \p ShowsMore: there is output
  /// besides the summary.
  llvm::Error check(bool ShowsMore) const;
};

/// Runs processes of \p Command for \p S, unless it is done; prints their jobs.
/// Returns whether the database is complete afterwards.
llvm::Expected<bool> launch(const Sweep &S, llvm::ArrayRef<std::string> Command,
                            const LaunchOptions &Options,
                            llvm::raw_ostream &OS);

} // namespace foretrace::sweep
