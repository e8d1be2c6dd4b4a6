// SPDX-License-Identifier: Apache-2.0
//
// Unfolds what a stage does, one action at a time.
#ifndef FORETRACE_IR_SCHEDULE_SCHEDULEWALKER_H
#define FORETRACE_IR_SCHEDULE_SCHEDULEWALKER_H

#include "ir/model/Schedule.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <algorithm>
#include <utility>

namespace foretrace::ir {

/// Goes through the actions of one stage in one iteration of training, in
/// order, without the empty slots. An action that begins with or overlaps an
/// empty one begins on its own.
class ScheduleWalker {
public:
  /// \p S stays as it is while the walker is used, and has a program for
  /// \p Stage.
  ScheduleWalker(const Schedule &S, int64_t Stage);

  int64_t stage() const { return Stage; }
  /// Of all its loops; INT64_MAX if they are more.
  int64_t iterations() const;
  /// The next action; nothing at the end.
  std::optional<Action> next();
  /// Passes over what only repeats the period that has just ended, with other
  /// micro-batches; how many times that was.
  int64_t skipRepetitions();
  /// Where the last action was: the loop, and the period of it.
  std::pair<size_t, int64_t> place() {
    return {Loop, Iteration / std::max<int64_t>(period(), 1)};
  }
  /// Whether a closed form had no value, which ends the walk.
  bool hasFailed() const { return Values.hasFailed(); }

private:
  void compute(int64_t Index);
  bool beginIteration();
  void enterLoop();
  int64_t period();
  int64_t findPeriod() const;
  std::optional<IndexValues::Trend> trend(const Slot &Of,
                                          int64_t Iterations) const;
  std::optional<int64_t> steadyTimes(int64_t Iterations) const;
  int64_t repetitions(const Slot &Of, int64_t Growth) const;
  int64_t repetitions(int64_t Iterations) const;
  std::optional<Action> actionOf(const Slot &Of) const;

  const Schedule &S;
  const int64_t Stage;
  const StageProgram &Program;
  IndexValues Values;
  /// Whether the part after, and that before a chunk are on other stages.
  struct ChunkEnds {
    bool SendsOn, SendsBack;
  };
  llvm::SmallVector<ChunkEnds, 4> Chunks;
  size_t Loop = 0;
  int64_t Iteration = 0, Count = 0; ///< of the loop
  /// Iterations after which the loop does the same for other micro-batches,
  /// for some time or always; 0 if there are none.
  std::optional<int64_t> Period;
  size_t Next = 0;      ///< slot
  bool IsEmpty = false; ///< so far the iteration
  // Of the slots that the next one may begin with:
  bool HasBegun = false;  ///< one was not empty
  bool IsMessage = false; ///< that one
};

/// Calls \p Visit with every action of stage \p Stage, until it returns false.
void forEachAction(const Schedule &S, int64_t Stage,
                   llvm::function_ref<bool(const Action &)> Visit);

} // namespace foretrace::ir

#endif
