// SPDX-License-Identifier: Apache-2.0
//
// Calls of a stage: actions that begin together, and their meetings with other
// stages. Shared by the clients of ir/schedule/Rendezvous.h.
#pragma once

#include "ir/schedule/Rendezvous.h"
#include "ir/schedule/ScheduleWalker.h"

namespace foretrace::ir {

/// Messages around steps that begin together. Their tags are zero.
struct StepMessages {
  llvm::SmallVector<Action, 2> Before, After;
};
StepMessages messagesAround(const Schedule &S, int64_t Stage,
                            llvm::ArrayRef<Action> Steps);

/// Messages in the calls of a stage.
enum class CallMessages : unsigned char {
  Scheduled,   ///< those of the schedule, in its transport
  AroundSteps, ///< a step receives right before it and sends, without waiting,
               ///< right after it: the order of steps alone decides
};

/// Iterates over the calls of one stage.
class StageCalls {
public:
  StageCalls(const Schedule &S, int64_t Stage,
             CallMessages Messages = CallMessages::Scheduled);

  int64_t stage() const { return Walker.stage(); }
  /// Advances to the next call; false at the end.
  bool next();
  llvm::ArrayRef<Action> actions() const { return Actions; }
  /// Returns the meeting for which the \p Part-th action of the call waits.
  const Meeting &meeting(size_t Part) const { return Meetings[Part]; }
  bool hasFailed() const { return Walker.hasFailed(); }

private:
  std::optional<Action> nextStep();
  void queueSteps();
  std::optional<Action> nextAction();
  Meeting meetingOf(const Action &A) const;

  const Schedule &S;
  ScheduleWalker Walker;
  const CallMessages Messages;
  const Transport How;
  std::optional<Action> Step; ///< the first that is not in Queue, AroundSteps
  llvm::SmallVector<Action, 8> Queue; ///< the last action first, AroundSteps
  std::optional<Action> Pending;      ///< the first of the call after this one
  llvm::SmallVector<Action, 4> Actions;
  llvm::SmallVector<Meeting, 4> Meetings; ///< parallel to Actions
};

} // namespace foretrace::ir
