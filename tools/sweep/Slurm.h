// SPDX-License-Identifier: Apache-2.0
//
// Has Slurm run the parts of a sweep: the shards as a job array, and the merge
// as a job that waits for them. The machines share the folder that we are in.
#pragma once

#include "tools/output/InputFiles.h"
#include "tools/sweep/Parts.h"

namespace foretrace::sweep {

/// What `sbatch` answers.
struct SlurmJob {
  std::string Id;
  std::string Cluster; ///< empty: that of whoever asks
};

struct SlurmJobs {
  SlurmJob Array, Merge;

  /// The command that shows them.
  std::vector<std::string> squeue() const;
};

/// Writes a script for the array and one for the merge into the folder of \p P,
/// and submits them with \p Arguments for `sbatch`. None of \p Inputs is
/// replaced.
llvm::Expected<SlurmJobs> submit(const Parts &P,
                                 llvm::ArrayRef<std::string> Arguments,
                                 const InputFiles &Inputs);

/// Waits for the merge. An error if the database is not there then.
llvm::Error waitFor(const SlurmJobs &Jobs, const Parts &P);

} // namespace foretrace::sweep
