// SPDX-License-Identifier: Apache-2.0
//
// A job to begin with: a model, a cluster, and a layout that fits.
#pragma once

#include "tools/compiler/Compiler.h"
#include "tools/importers/ImportedJob.h"
#include "llvm/Support/Error.h"

namespace foretrace::start {

struct NewJobRequest {
  /// Name of the model in comments.
  std::string Model;
  /// Import of the model; empty if it is `Imported`.
  std::string ModelImport;
  std::optional<importers::ImportedJob> Imported = {};
  /// The cluster in comments, and the import for it; empty if there is none.
  std::string Cluster, ClusterImport;
  /// Number of ranks; 0 for all devices of the cluster, or what
  /// the job says.
  int64_t World = 0;
  /// Keys that the job will have, `train.sequence=8192`.
  std::vector<std::string> Overrides;
  /// Where the job will be; its imports are relative to it.
  std::string Path;
  /// Whether it takes the fewest device hours, of at most World devices, rather
  /// than the least time.
  bool IsForDeviceHours = false;
  bool IsExplained = false; ///< by `NewJob::Why`
  /// The engine of a job that serves, `vllm`; empty for one that trains.
  std::string Engine = {};
};

struct NewJob {
  std::string Text; ///< in the style of `foretrace fmt`
  std::string Why;  ///< what other values of each key would do, a line each
};

/// Adds the keys of sections among \p Given, `name=value` each, to \p To.
/// Returns the others, which the input of the model may lack. An error for a
/// key of a section that a new job does not set.
llvm::Expected<std::vector<std::string>>
takeOverrides(std::vector<std::string> Given, NewJobRequest &To);

/// Makes the job. The error says why no layout is legal, or what fits is
/// missing.
llvm::Expected<NewJob> makeNewJob(NewJobRequest Request);

/// If the job at \p Path is a model, and \p Options set a cluster but no
/// layout, adds the one that `foretrace new` chooses to them, and the batch;
/// reports what is assumed. If none fits, reports that; then, and if none is
/// legal, \p Options stay as they are.
void chooseLayout(Compiler &Session, llvm::StringRef Path,
                  FrontendOptions &Options, DiagnosticEngine &Diags);

/// Returns the path that a job imports for \p Name, of a model (`models`,
/// `fore`) or a cluster (`clusters`, `toml`): that of the library, or \p Name
/// itself if it is a file, as seen from the folder of \p Job.
llvm::Expected<std::string> importFor(llvm::StringRef Name,
                                      llvm::StringRef Folder,
                                      llvm::StringRef Extension,
                                      llvm::StringRef Job);

} // namespace foretrace::start
