// SPDX-License-Identifier: Apache-2.0
//
// Stages as actors of ir/schedule/Rendezvous.h, each with a step that receives
// right before it and sends, without waiting, right after it. What is done at
// the end of a call is for the client to say.
#pragma once

#include "ir/schedule/StageCalls.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace foretrace::ir {

/// Returns the duration of an action of a stage, in any unit. That of a send is
/// the time of its message, which delays the receiver alone.
using ActionDuration =
    llvm::function_ref<int64_t(int64_t Stage, const Action &)>;

class StageRuns {
public:
  StageRuns(const Schedule &S, ActionDuration Duration) : Duration(Duration) {
    for (int64_t Stage = 0; Stage < S.Stages; ++Stage)
      Calls.emplace_back(S, Stage, CallMessages::AroundSteps);
  }

  size_t size() const { return Calls.size(); }
  llvm::ArrayRef<Action> actions(size_t I) const { return Calls[I].actions(); }

  bool begin(size_t I) { return Calls[I].next(); }
  size_t parts(size_t I) const { return actions(I).size(); }
  Meeting meeting(size_t I, size_t Part) const {
    Meeting M = Calls[I].meeting(Part);
    if (isSend(actions(I)[Part].Kind))
      M.Delay = Duration(Calls[I].stage(), actions(I)[Part]);
    return M;
  }
  int64_t duration(size_t I, size_t Part) const {
    return isMessage(actions(I)[Part].Kind)
               ? 0
               : Duration(Calls[I].stage(), actions(I)[Part]);
  }

private:
  ActionDuration Duration;
  std::vector<StageCalls> Calls;
};

} // namespace foretrace::ir
