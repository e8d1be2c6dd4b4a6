// SPDX-License-Identifier: Apache-2.0
//
// Changes of a job for less memory or a shorter iteration, and tables of them.
#ifndef FORETRACE_TOOLS_DRIVER_JOBCHANGES_H
#define FORETRACE_TOOLS_DRIVER_JOBCHANGES_H

#include "backends/figures/Figures.h"
#include "passes/vary/Fit.h"
#include "tools/compiler/CompiledJob.h"

namespace foretrace::driver {

/// Returns changes of \p Job with which no rank has more than \p Room bytes and
/// nothing new is wrong, each compiled anew, from the one that a run pays least
/// for. \p P is the job as it is.
std::vector<vary::Proposal>
findFittingChanges(const CompiledJob &Job, const ir::Program &P, int64_t Room);

/// Estimated time of an iteration, and peak memory of a rank.
struct TimedJob {
  int64_t Time, Peak;
};
/// Nothing if a number is beyond 2^63. The program has costs and a cluster.
std::optional<TimedJob> measureTime(const ir::Program &Of);

struct FasterChange {
  vary::KeyTexts Keys;
  TimedJob Of; ///< the job with these keys
};
/// Returns the changes of single keys of \p Job, and of at most \p MostPairs
/// pairs those that are better than each of the two alone, with which an
/// iteration is estimated to be shorter, from the one that saves most. Nothing
/// new is wrong with the changed job, and no rank needs more memory than a
/// device has, unless one does already. \p P is the job as it is, with a
/// cluster and an estimate.
std::vector<FasterChange> findFasterChanges(const CompiledJob &Job,
                                            const ir::Program &P,
                                            unsigned MostPairs);

/// The table of findFittingChanges, after \p P, the job as it is.
FigureTable listFittingChanges(const CompiledJob &Job, const ir::Program &P,
                               int64_t Room);

/// The table of findFasterChanges for single keys.
FigureTable listFasterChanges(const CompiledJob &Job, const ir::Program &P);

} // namespace foretrace::driver

#endif
