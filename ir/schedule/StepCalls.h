// SPDX-License-Identifier: Apache-2.0
//
// The steps of a stage as its data alone orders them: whatever a step needs
// from another stage is waited for right before it, and what it makes is sent
// right after. What a schedule's order costs, whichever way messages travel.
#ifndef FORETRACE_IR_SCHEDULE_STEPCALLS_H
#define FORETRACE_IR_SCHEDULE_STEPCALLS_H

#include "ir/schedule/Rendezvous.h"
#include "ir/schedule/ScheduleWalker.h"

namespace foretrace::ir {

/// The messages around steps that begin together. Their tags are zero.
struct StepMessages {
  llvm::SmallVector<Action, 2> Before, After;
};
StepMessages messagesAround(const Schedule &S, int64_t Stage,
                            llvm::ArrayRef<Action> Steps);

/// Goes through the calls of one stage: of what steps need, the steps, of what
/// they made.
class StepCalls {
public:
  StepCalls(const Schedule &S, int64_t Stage)
      : S(S), Walker(S, Stage), Pending(nextStep()) {}

  int64_t stage() const { return Walker.stage(); }
  /// Goes to the next call; false at the end.
  bool next();
  llvm::ArrayRef<Action> actions() const { return Actions; }
  /// What the \p Part-th action of the call waits for: a receive for its send.
  Meeting meeting(size_t Part) const;

private:
  std::optional<Action> nextStep();

  const Schedule &S;
  ScheduleWalker Walker;
  std::optional<Action> Pending; ///< the first of the steps after these
  llvm::SmallVector<Action, 2> Actions, Steps, After;
};

} // namespace foretrace::ir

#endif
