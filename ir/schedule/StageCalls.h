// SPDX-License-Identifier: Apache-2.0
//
// The calls of a stage: actions that begin together, and where they meet those
// of other stages. What clients of ir/schedule/Rendezvous.h share.
#ifndef FORETRACE_IR_SCHEDULE_STAGECALLS_H
#define FORETRACE_IR_SCHEDULE_STAGECALLS_H

#include "ir/schedule/Rendezvous.h"
#include "ir/schedule/ScheduleWalker.h"

namespace foretrace::ir {

/// Goes through the calls of one stage.
class StageCalls {
public:
  StageCalls(const Schedule &S, int64_t Stage)
      : S(S), Walker(S, Stage), Pending(Walker.next()) {}

  int64_t stage() const { return Walker.stage(); }
  /// Goes to the next call; false at the end.
  bool next();
  llvm::ArrayRef<Action> actions() const { return Actions; }
  /// What the \p Part-th action of the call waits for.
  const Meeting &meeting(size_t Part) const { return Meetings[Part]; }
  bool hasFailed() const { return Walker.hasFailed(); }

private:
  const Schedule &S;
  ScheduleWalker Walker;
  std::optional<Action> Pending; ///< the first of the call after this one
  llvm::SmallVector<Action, 4> Actions;
  llvm::SmallVector<Meeting, 4> Meetings; ///< parallel to Actions

  Meeting meetingOf(const Action &A) const;
};

} // namespace foretrace::ir

#endif
