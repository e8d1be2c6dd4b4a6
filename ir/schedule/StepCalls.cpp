// SPDX-License-Identifier: Apache-2.0
#include "ir/schedule/StepCalls.h"

using namespace foretrace;
using namespace foretrace::ir;

/// Adds the message that \p Step has with the chunk after, or before, its own;
/// none at the ends of the model and within a stage.
static void addMessage(const Schedule &S, int64_t Stage, const Action &Step,
                       ActionKind Kind, bool IsNext,
                       llvm::SmallVectorImpl<Action> &To) {
  const std::optional<int64_t> Peer = S.neighbour(Stage, Step.Chunk, IsNext);
  if (!Peer || *Peer == Stage)
    return;
  Action A = Step;
  A.Kind = Kind;
  A.Peer = *Peer;
  A.Start = To.empty() ? SlotStart::After : SlotStart::With;
  To.push_back(A);
}

StepMessages foretrace::ir::messagesAround(const Schedule &S, int64_t Stage,
                                           llvm::ArrayRef<Action> Steps) {
  StepMessages Out;
  for (const Action &A : Steps) {
    if (A.Kind == ActionKind::BackwardWeight)
      continue;
    const bool IsForward = A.Kind == ActionKind::Forward;
    addMessage(S, Stage, A,
               IsForward ? ActionKind::RecvForward : ActionKind::RecvBackward,
               !IsForward, Out.Before);
    addMessage(S, Stage, A,
               IsForward ? ActionKind::SendForward : ActionKind::SendBackward,
               IsForward, Out.After);
  }
  return Out;
}

std::optional<Action> StepCalls::nextStep() {
  std::optional<Action> A = Walker.next();
  while (A && !isCompute(A->Kind))
    A = Walker.next();
  return A;
}

bool StepCalls::next() {
  if (!Steps.empty()) {
    Actions = std::move(Steps);
    Steps.clear();
    return true;
  }
  if (!After.empty()) {
    Actions = std::move(After);
    After.clear();
    return true;
  }
  if (!Pending)
    return false;
  do {
    Steps.push_back(*Pending);
    Pending = nextStep();
  } while (Pending && Pending->Start == SlotStart::Overlapped);
  StepMessages Around = messagesAround(S, stage(), Steps);
  After = std::move(Around.After);
  if (Around.Before.empty())
    return next();
  Actions = std::move(Around.Before);
  return true;
}

Meeting StepCalls::meeting(size_t Part) const {
  const Action &A = Actions[Part];
  if (!isMessage(A.Kind))
    return {};
  return {messageOf(S, stage(), A)->key(S), 2, isReceive(A.Kind)};
}
