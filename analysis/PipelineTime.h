// SPDX-License-Identifier: Apache-2.0
//
// The time that a pipeline needs, without the start and end of each action
// (ir/schedule/Timeline.h has those).
#ifndef FORETRACE_ANALYSIS_PIPELINETIME_H
#define FORETRACE_ANALYSIS_PIPELINETIME_H

#include "ir/schedule/StageRuns.h"
#include <map>
#include <memory>
#include <tuple>

namespace foretrace {

/// Returns the time until the last stage has run its steps, and then \p Update,
/// a time for each stage. Steps and messages run as in an ir::Timeline. With
/// `one_f_one_b` time grows with the number of steps, and memory with that of
/// stages. Of other schedules with many micro-batches some numbers are run; if
/// the time grows evenly between three of them, it is assumed to go on.
int64_t pipelineTime(const ir::Schedule &S, ir::ActionDuration Duration,
                     llvm::ArrayRef<int64_t> Update);

/// Returns the same by running all steps one by one.
int64_t pipelineTimeOfSteps(const ir::Schedule &S, ir::ActionDuration Duration,
                            llvm::ArrayRef<int64_t> Update);

/// The same for several durations: keeps schedules as flat lists of calls. All
/// that have the same numbers must have the same programs.
class PipelineTimer {
public:
  PipelineTimer();
  PipelineTimer(PipelineTimer &&) noexcept;
  PipelineTimer &operator=(PipelineTimer &&) noexcept;
  ~PipelineTimer();

  int64_t time(const ir::Schedule &S, ir::ActionDuration Duration,
               llvm::ArrayRef<int64_t> Update);

private:
  struct FlatSchedule;
  /// Kind, stages, chunks, micro-batches, group.
  using Numbers =
      std::tuple<ir::ScheduleKind, int64_t, int64_t, int64_t, int64_t>;

  int64_t timeOfSteps(const ir::Schedule &S, ir::ActionDuration Duration,
                      llvm::ArrayRef<int64_t> Update);

  std::map<Numbers, std::unique_ptr<FlatSchedule>> Known;
};

} // namespace foretrace

#endif
