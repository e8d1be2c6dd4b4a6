// SPDX-License-Identifier: Apache-2.0
//
// Start and end of every action of an iteration, given the duration of each.
#pragma once

#include "ir/schedule/StageRuns.h"

namespace foretrace::ir {

/// The stages of a schedule, run against each other. A message delays a stage
/// only immediately before the step that needs it, so the result depends on the
/// order of steps alone. Time and memory grow with the number of actions.
class Timeline {
public:
  /// Actions that began together, in order.
  struct Span {
    int64_t Start, End;
    llvm::SmallVector<Action, 2> Actions;
  };

  Timeline(const Schedule &S, ActionDuration Duration);

  /// Returns whether stages deadlock.
  bool isStuck() const { return Stuck; }
  llvm::ArrayRef<Span> spans(int64_t Stage) const {
    return Stages[static_cast<size_t>(Stage)];
  }
  /// Returns the time from the start of the first action to the end of the
  /// last.
  int64_t length() const { return Length; }
  /// Returns the total duration of the steps of a stage.
  int64_t work(int64_t Stage) const;

private:
  std::vector<std::vector<Span>> Stages;
  int64_t Length = 0;
  bool Stuck = false;
};

/// Returns unit durations: one for a forward step and for each half of a
/// backward step.
int64_t unitTime(int64_t Stage, const Action &A);

} // namespace foretrace::ir
