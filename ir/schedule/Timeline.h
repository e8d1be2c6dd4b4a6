// SPDX-License-Identifier: Apache-2.0
//
// When every action of an iteration starts and ends, if it is known how long
// each takes.
#ifndef FORETRACE_IR_SCHEDULE_TIMELINE_H
#define FORETRACE_IR_SCHEDULE_TIMELINE_H

#include "ir/model/Schedule.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace foretrace::ir {

/// The stages of a schedule, run against each other. A message holds a stage up
/// right before the step that needs it: the order of steps alone decides. Time
/// and memory grow with the number of actions.
class Timeline {
public:
  /// Actions that began together, in order.
  struct Span {
    int64_t Start, End;
    llvm::SmallVector<Action, 2> Actions;
  };

  /// \p Duration is of an action of a stage, in any unit.
  Timeline(const Schedule &S,
           llvm::function_ref<int64_t(int64_t Stage, const Action &)> Duration);

  /// Whether stages wait for each other for ever.
  bool isStuck() const { return Stuck; }
  llvm::ArrayRef<Span> spans(int64_t Stage) const {
    return Stages[static_cast<size_t>(Stage)];
  }
  /// From the start of the first to the end of the last.
  int64_t length() const { return Length; }
  /// For how long a stage runs steps.
  int64_t work(int64_t Stage) const;

private:
  std::vector<std::vector<Span>> Stages;
  int64_t Length = 0;
  bool Stuck = false;
};

/// A forward step takes one, as long as each half of a backward step.
int64_t unitTime(int64_t Stage, const Action &A);

} // namespace foretrace::ir

#endif
