// SPDX-License-Identifier: Apache-2.0
//
// The time that a pipeline needs, without the start and end of each action
// (ir/schedule/Timeline.h has those).
#pragma once

#include "ir/schedule/StageRuns.h"
#include <map>
#include <memory>
#include <optional>
#include <tuple>

namespace foretrace {

/// Returns the time until the last stage has run its steps, and then \p Update,
/// a time for each stage. Steps and messages run as in an ir::Timeline. With
/// `one_f_one_b` time grows with the number of steps, and memory with that of
/// stages. Of other schedules with many micro-batches some numbers are run; if
/// the time grows evenly between three of them, it is assumed to go on.
int64_t pipelineTime(const ir::Schedule &S, ir::ActionDuration Duration,
                     llvm::ArrayRef<int64_t> Update);

/// Returns pipelineTime() by running all steps one by one.
int64_t pipelineTimeOfSteps(const ir::Schedule &S, ir::ActionDuration Duration,
                            llvm::ArrayRef<int64_t> Update);

/// A longest chain of steps and messages, each of which begins when the one
/// before it ends, from the start of the iteration until a stage has run its
/// update.
struct PipelinePath {
  /// A step, or a send, whose message a stage waits for.
  struct Step {
    int64_t Stage;
    ir::Action Action; ///< of any micro-batch

    bool operator<(const Step &Other) const { return key() < Other.key(); }

  private:
    std::tuple<int64_t, ir::ActionKind, int64_t, int64_t> key() const {
      return {Stage, Action.Kind, Action.Chunk, Action.Peer};
    }
  };
  std::map<Step, int64_t> Steps; ///< how often it runs each
  int64_t Last = 0;              ///< the stage of the update
};

class FlatSchedule;

/// One of several programs with the same schedule.
struct PipelineRun {
  /// Time in ns until the last update has run; nothing if it is unknown yet.
  std::optional<int64_t> Total;
  std::vector<int64_t> Durations; ///< ns, as FlatSchedule::durations
  std::vector<int64_t> Update;    ///< by stage
  int64_t Slowest = 0; ///< a micro-batch through the chunks of a stage
};

/// Times pipelines with several durations: keeps schedules as flat lists of
/// calls. All that have the same numbers must have the same programs.
class PipelineTimer {
public:
  PipelineTimer();
  PipelineTimer(PipelineTimer &&) noexcept;
  PipelineTimer &operator=(PipelineTimer &&) noexcept;
  ~PipelineTimer();

  int64_t time(const ir::Schedule &S, ir::ActionDuration Duration,
               llvm::ArrayRef<int64_t> Update);
  /// Returns what finish() needs to know of a program; the total at once if
  /// there is a closed form.
  PipelineRun prepare(const ir::Schedule &S, ir::ActionDuration Duration,
                      llvm::ArrayRef<int64_t> Update);
  /// Sets the totals of \p Runs, which prepare() returned for \p S.
  void finish(const ir::Schedule &S, llvm::ArrayRef<PipelineRun *> Runs);
  /// Returns the critical path of an iteration that takes \p Total, as time()
  /// returned it; if two chains are equally long, one that stays on its stage.
  /// Returns nothing if the schedule has too many steps to keep, or if \p Total
  /// is not what they sum to. Where time()
  /// assumes that time grows evenly, the path does, too.
  std::optional<PipelinePath> path(const ir::Schedule &S,
                                   ir::ActionDuration Duration,
                                   llvm::ArrayRef<int64_t> Update,
                                   int64_t Total);

private:
  /// Kind, stages, chunks, micro-batches, group.
  using Numbers =
      std::tuple<ir::ScheduleKind, int64_t, int64_t, int64_t, int64_t>;

  /// Returns \p S with \p MicroBatches, at most its own; nothing if \p S is too
  /// large to keep.
  const FlatSchedule *flat(const ir::Schedule &S, int64_t MicroBatches);
  int64_t timeOfSteps(const ir::Schedule &S, ir::ActionDuration Duration,
                      llvm::ArrayRef<int64_t> Update);
  std::vector<int64_t> timesOfSteps(const ir::Schedule &S,
                                    llvm::ArrayRef<PipelineRun *> Runs);

  std::map<Numbers, std::unique_ptr<FlatSchedule>> Known;
};

} // namespace foretrace
