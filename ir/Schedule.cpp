// SPDX-License-Identifier: Apache-2.0
#include "ir/Schedule.h"
#include "llvm/Support/ErrorHandling.h"

using namespace foretrace;
using namespace foretrace::ir;

llvm::StringRef foretrace::ir::getName(SchedulePhase P) {
  static constexpr llvm::StringLiteral Names[] = {
#define SCHEDULE_PHASE(ENUMERATOR, SPELLING, DOC) SPELLING,
#include "ir/Actions.def"
  };
  return Names[static_cast<unsigned>(P)];
}

llvm::StringRef foretrace::ir::getName(ActionKind K) {
  static constexpr llvm::StringLiteral Names[] = {
#define ACTION(ENUMERATOR, SPELLING, DOC) SPELLING,
#include "ir/Actions.def"
  };
  return Names[static_cast<unsigned>(K)];
}

namespace {

/// A chunk of a micro-batch.
struct Step {
  int64_t MicroBatch, Chunk;
};

class Walker {
public:
  Walker(const Schedule &S, int64_t Stage,
         llvm::function_ref<bool(const Action &)> Visit)
      : S(S), Stage(Stage), Visit(Visit), Warmup(S.warmup(Stage)) {}

  void run();

private:
  void plain();
  void interleaved();
  void warmUp();
  void steady();
  void coolDown();

  /// The \p K-th forward or backward step. Interleaved stages take a group of
  /// micro-batches through every chunk, then the next group.
  Step forwardStep(int64_t K) const {
    const int64_t First = K / S.Chunks / S.Group * S.Group; // of the group
    const int64_t Size = std::min(S.Group, S.microBatches() - First);
    const int64_t InGroup = K - First * S.Chunks;
    return {First + InGroup % Size, InGroup / Size};
  }
  Step backwardStep(int64_t K) const {
    Step Of = forwardStep(K);
    return {Of.MicroBatch, S.Chunks - 1 - Of.Chunk};
  }
  bool isFirst() const { return Stage == 0; }
  bool isLast() const { return Stage == S.Stages - 1; }
  bool isModelStart(Step At) const { return isFirst() && At.Chunk == 0; }
  bool isModelEnd(Step At) const {
    return isLast() && At.Chunk == S.Chunks - 1;
  }

  void act(ActionKind Kind, Step Of) {
    if (Running)
      Running = Visit({Kind, Phase, Of.MicroBatch, Of.Chunk, IsFused});
  }
  /// A message of a combined call: all but the first are fused.
  void message(ActionKind Kind, Step Of) {
    act(Kind, Of);
    IsFused = true;
  }
  void endCall() { IsFused = false; }

  // The messages after a step, if they are due.
  void sendForward(int64_t K);
  void sendBackward(int64_t K);
  void recvForwardAfter(int64_t K);
  void recvBackwardAfter(int64_t K);

  const Schedule &S;
  const int64_t Stage;
  llvm::function_ref<bool(const Action &)> Visit;
  const int64_t Warmup;
  SchedulePhase Phase = SchedulePhase::Warmup;
  bool IsFused = false;
  bool Running = true;
};

} // namespace

/// Without chunks: at most one message each way is due, and what follows a
/// step is received before the next.
void Walker::plain() {
  const int64_t Steady = S.Steps - Warmup;
  auto At = [](int64_t K) { return Step{K, 0}; };
  auto BackwardOf = [&](int64_t K) {
    return At(S.Kind == ScheduleKind::GPipe ? S.Steps - 1 - K : K);
  };
  Phase = SchedulePhase::Warmup;
  for (int64_t K = 0; K < Warmup && Running; ++K) {
    if (!isFirst())
      act(ActionKind::RecvForward, At(K));
    act(ActionKind::Forward, At(K));
    if (!isLast())
      act(ActionKind::SendForward, At(K));
  }
  Phase = SchedulePhase::Steady;
  if (Steady > 0 && !isFirst())
    act(ActionKind::RecvForward, At(Warmup));
  for (int64_t K = 0; K < Steady && Running; ++K) {
    act(ActionKind::Forward, At(Warmup + K));
    if (!isLast()) {
      message(ActionKind::SendForward, At(Warmup + K));
      message(ActionKind::RecvBackward, At(K));
      endCall();
    }
    act(ActionKind::Backward, At(K));
    if (!isFirst()) {
      message(ActionKind::SendBackward, At(K));
      if (K + 1 < Steady)
        message(ActionKind::RecvForward, At(Warmup + K + 1));
      endCall();
    }
  }
  Phase = SchedulePhase::Cooldown;
  for (int64_t K = Steady; K < S.Steps && Running; ++K) {
    if (!isLast())
      act(ActionKind::RecvBackward, BackwardOf(K));
    act(ActionKind::Backward, BackwardOf(K));
    if (!isFirst())
      act(ActionKind::SendBackward, BackwardOf(K));
  }
}

void Walker::sendForward(int64_t K) {
  if (Step Of = forwardStep(K); !isModelEnd(Of))
    message(ActionKind::SendForward, Of);
}

void Walker::sendBackward(int64_t K) {
  if (Step Of = backwardStep(K); !isModelStart(Of))
    message(ActionKind::SendBackward, Of);
}

/// After forward step \p K. The first stage gets what the last one computed
/// pp - 1 steps ago, for its next chunk.
void Walker::recvForwardAfter(int64_t K) {
  if (!isFirst()) {
    message(ActionKind::RecvForward, forwardStep(K + 1));
    return;
  }
  const int64_t Sent = K - (S.Stages - 1);
  if (Sent < 0)
    return;
  Step Of = forwardStep(Sent);
  if (++Of.Chunk < S.Chunks)
    message(ActionKind::RecvForward, Of);
}

/// After backward step \p K, which is -1 before the first. The last stage gets
/// what the first one computed pp - 1 steps ago, for the chunk before.
void Walker::recvBackwardAfter(int64_t K) {
  if (!isLast()) {
    message(ActionKind::RecvBackward, backwardStep(K + 1));
    return;
  }
  const int64_t Sent = K - (S.Stages - 1);
  if (Sent < 0)
    return;
  Step Of = backwardStep(Sent);
  if (--Of.Chunk >= 0)
    message(ActionKind::RecvBackward, Of);
}

void Walker::warmUp() {
  Phase = SchedulePhase::Warmup;
  if (!isFirst())
    act(ActionKind::RecvForward, forwardStep(0));
  for (int64_t K = 0; K < Warmup && Running; ++K) {
    act(ActionKind::Forward, forwardStep(K));
    sendForward(K);
    if (K + 1 < S.Steps)
      recvForwardAfter(K);
    if (K + 1 == Warmup && Warmup < S.Steps)
      recvBackwardAfter(-1);
    endCall();
  }
}

void Walker::steady() {
  Phase = SchedulePhase::Steady;
  for (int64_t K = 0; K < S.Steps - Warmup && Running; ++K) {
    const int64_t Forward = Warmup + K;
    act(ActionKind::Forward, forwardStep(Forward));
    act(ActionKind::Backward, backwardStep(K));
    sendForward(Forward);
    sendBackward(K);
    if (Forward + 1 < S.Steps)
      recvForwardAfter(Forward);
    recvBackwardAfter(K);
    endCall();
  }
}

void Walker::coolDown() {
  Phase = SchedulePhase::Cooldown;
  const int64_t Steady = S.Steps - Warmup;
  if (Steady == 0 && !isLast())
    act(ActionKind::RecvBackward, backwardStep(0));
  for (int64_t K = Steady; K < S.Steps && Running; ++K) {
    act(ActionKind::Backward, backwardStep(K));
    sendBackward(K);
    if (K + 1 < S.Steps)
      recvBackwardAfter(K);
    endCall();
  }
}

void Walker::interleaved() {
  warmUp();
  steady();
  coolDown();
}

void Walker::run() {
  if (S.Kind == ScheduleKind::Interleaved)
    interleaved();
  else
    plain();
  Phase = SchedulePhase::Finalize;
  act(ActionKind::Step, {0, 0});
}

std::optional<PipelineMessage>
foretrace::ir::messageOf(const Schedule &S, int64_t Stage, const Action &A) {
  const int64_t ModelChunk = A.Chunk * S.Stages + Stage;
  switch (A.Kind) {
  case ActionKind::SendForward:
    return PipelineMessage{true, A.MicroBatch, ModelChunk};
  case ActionKind::RecvForward:
    return PipelineMessage{true, A.MicroBatch, ModelChunk - 1};
  case ActionKind::SendBackward:
    return PipelineMessage{false, A.MicroBatch, ModelChunk - 1};
  case ActionKind::RecvBackward:
    return PipelineMessage{false, A.MicroBatch, ModelChunk};
  case ActionKind::Forward:
  case ActionKind::Backward:
  case ActionKind::Step:
    return std::nullopt;
  }
  llvm_unreachable("every action is handled");
}

void foretrace::ir::forEachAction(
    const Schedule &S, int64_t Stage,
    llvm::function_ref<bool(const Action &)> Visit) {
  Walker(S, Stage, Visit).run();
}
