// SPDX-License-Identifier: Apache-2.0
//
// Unfolds the actions of a stage one by one.
#pragma once

#include "ir/model/Schedule.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <algorithm>
#include <utility>

namespace foretrace::ir {

/// Actions that a walker visits.
enum class Visited : unsigned char {
  All,
  Steps ///< and what is done once per iteration of training, but no messages
};

/// Iterates over the actions of one stage in one iteration of training, in
/// order, without empty slots. An action that begins with or overlaps an empty
/// one begins on its own.
class ScheduleWalker {
public:
  /// \p S must not change while the walker is used, and must have a program for
  /// \p Stage.
  ScheduleWalker(const Schedule &S, int64_t Stage, Visited Of = Visited::All);

  int64_t stage() const { return Stage; }
  /// Returns the number of iterations of all loops; at most INT64_MAX.
  int64_t iterations() const;
  /// Returns the next action; nothing at the end.
  std::optional<Action> next();
  /// Skips repetitions of the period that has just ended, which differ only in
  /// their micro-batches. Returns the number of skipped periods.
  int64_t skipRepetitions();
  /// Returns the loop and the period of the last action.
  std::pair<size_t, int64_t> place() {
    return {Loop, Iteration / std::max<int64_t>(period(), 1)};
  }
  /// Returns whether a closed form had no value, which ends the walk.
  bool hasFailed() const { return Values.hasFailed(); }

private:
  void compute(int64_t Index);
  const IndexCode &varying() const;
  bool beginIteration();
  void enterLoop();
  int64_t period();
  int64_t findPeriod();
  std::optional<IndexValues::Trend> trend(const Slot &Of) const;
  std::optional<int64_t> steadyTimes(int64_t Iterations);
  int64_t repetitions(const Slot &Of, int64_t Growth) const;
  int64_t repetitions(int64_t Iterations);
  std::optional<Action> actionOf(const Slot &Of) const;

  const Schedule &S;
  const int64_t Stage;
  const Visited Visits;
  const StageProgram &Program;
  IndexValues Values;
  /// Whether the parts after and before a chunk are on other stages.
  struct ChunkEnds {
    bool SendsOn, SendsBack;
  };
  llvm::SmallVector<ChunkEnds, 4> Chunks;
  size_t Loop = 0;
  int64_t Iteration = 0, Count = 0; ///< of the loop
  /// Number of iterations after which the loop repeats with other
  /// micro-batches, for a while or always; 0 if it does not.
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
