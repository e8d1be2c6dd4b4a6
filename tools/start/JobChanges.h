// SPDX-License-Identifier: Apache-2.0
//
// Changes of a job with which it fits, or with which an iteration is shorter.
#ifndef FORETRACE_TOOLS_START_JOBCHANGES_H
#define FORETRACE_TOOLS_START_JOBCHANGES_H

#include "backends/figures/Figures.h"
#include "tools/driver/Emitter.h"
#include "tools/start/LayoutSearch.h"

namespace foretrace::start {

/// A job with other keys.
struct JobChange {
  std::vector<std::string> Keys; ///< `parallel.zero=1`, as after -D
  MeasuredJob Job;               ///< with these keys
  bool IsLossy = false;          ///< whether training has other results
};

struct JobChanges {
  MeasuredJob Now; ///< the job as it is
  std::vector<JobChange> Found;
};

/// Returns the changes of one key, or of some that belong together, with which
/// no rank of \p Job has more than \p Room bytes, and changes of several keys
/// if there are none: from the one that a run pays least for, by its time if
/// that can be estimated, else by FLOPs and messages. Nothing new is wrong with
/// the changed job. An error says why there is no search.
llvm::Expected<JobChanges> findFitting(OpenJob Job, int64_t Room);

/// Returns the changes of one key, and the best of several, with which an
/// iteration of \p Job is estimated to be shorter, also by the upper end of the
/// range, and no rank needs more memory than a device has; the fastest first.
llvm::Expected<JobChanges> findFaster(OpenJob Job);

/// Returns options of who emits the job at \p Path, which \p Session has read
/// with \p Reading: they offer tables of its changes.
driver::EmitterOptions offerChanges(Compiler &Session, llvm::StringRef Path,
                                    const FrontendOptions &Reading);

} // namespace foretrace::start

#endif
