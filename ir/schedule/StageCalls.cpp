// SPDX-License-Identifier: Apache-2.0
#include "ir/schedule/StageCalls.h"
#include "llvm/ADT/STLExtras.h"

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

StageCalls::StageCalls(const Schedule &S, int64_t Stage, CallMessages Messages)
    : S(S), Walker(S, Stage), Messages(Messages),
      How(Messages == CallMessages::Scheduled ? S.Transport
                                              : Transport::Eager) {
  if (Messages == CallMessages::AroundSteps)
    Step = nextStep();
  Pending = nextAction();
}

std::optional<Action> StageCalls::nextStep() {
  std::optional<Action> A = Walker.next();
  while (A && !isCompute(A->Kind))
    A = Walker.next();
  return A;
}

/// Queues the next steps that overlap, between their messages.
void StageCalls::queueSteps() {
  if (!Step)
    return;
  llvm::SmallVector<Action, 2> Steps;
  Step->Start = SlotStart::After;
  do {
    Steps.push_back(*Step);
    Step = nextStep();
  } while (Step && Step->Start == SlotStart::Overlapped);
  const StepMessages Around = messagesAround(S, stage(), Steps);
  for (llvm::ArrayRef<Action> Call :
       {llvm::ArrayRef(Around.After), llvm::ArrayRef(Steps),
        llvm::ArrayRef(Around.Before)})
    llvm::append_range(Queue, llvm::reverse(Call));
}

std::optional<Action> StageCalls::nextAction() {
  if (Messages == CallMessages::Scheduled)
    return Walker.next();
  if (Queue.empty())
    queueSteps();
  if (Queue.empty())
    return std::nullopt;
  return Queue.pop_back_val();
}

Meeting StageCalls::meetingOf(const Action &A) const {
  const std::optional<PipelineMessage> M = messageOf(S, stage(), A);
  if (!M)
    return {};
  return {M->key(S), 2, isReceive(A.Kind) || How == Transport::Combined};
}

bool StageCalls::next() {
  if (!Pending)
    return false;
  Actions.clear();
  Meetings.clear();
  do {
    Actions.push_back(*Pending);
    Meetings.push_back(meetingOf(*Pending));
    Pending = nextAction();
  } while (Pending && Pending->Start != SlotStart::After);
  return true;
}
