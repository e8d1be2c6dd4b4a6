// SPDX-License-Identifier: Apache-2.0
//
// A job to begin with: a model, a cluster, and a layout that fits.
#ifndef FORETRACE_TOOLS_START_NEWJOB_H
#define FORETRACE_TOOLS_START_NEWJOB_H

#include "tools/importers/ImportedJob.h"
#include "llvm/Support/Error.h"

namespace foretrace::start {

struct NewJobRequest {
  /// What the model is called in comments.
  std::string Model;
  /// What the job imports for it; empty if it is `Imported`.
  std::string ModelImport;
  std::optional<importers::ImportedJob> Imported = {};
  /// The cluster in comments, and what the job imports for it; empty if there
  /// is none.
  std::string Cluster, ClusterImport;
  /// Number of ranks; 0 for all devices of the cluster.
  int64_t World = 0;
  /// Where the job will be; its imports are relative to it.
  std::string Path;
};

/// Makes the text of the job, in the style of `foretrace fmt`. The error says
/// why no layout is legal, or what fits is missing.
llvm::Expected<std::string> makeNewJob(NewJobRequest Request);

} // namespace foretrace::start

#endif
