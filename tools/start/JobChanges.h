// SPDX-License-Identifier: Apache-2.0
//
// Changes of a job with which it fits, or with which an iteration is shorter.
#pragma once

#include "backends/figures/Figures.h"
#include "tools/compiler/Compiler.h"
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

/// Returns changes of one key, or of keys that belong together, with which no
/// rank of \p Job has more than \p Room bytes; changes of several keys if there
/// are none. They are sorted by time if it can be estimated, else by FLOPs and
/// messages. The changed job has no new warnings. The error is the reason why
/// the job cannot be searched.
llvm::Expected<JobChanges> findFitting(OpenJob Job, int64_t Room);

/// Returns the changes of one key, and the best of several, with which an
/// iteration of \p Job is estimated to be shorter, also by the upper end of the
/// range, and no rank needs more memory than a device has; the fastest first.
llvm::Expected<JobChanges> findFaster(OpenJob Job);

/// Returns options of an emitter, with functions that list changes of the job
/// at \p Path. \p Session has read it with \p Reading.
driver::EmitterOptions offerChanges(Compiler &Session, llvm::StringRef Path,
                                    const FrontendOptions &Reading);

} // namespace foretrace::start
