// SPDX-License-Identifier: Apache-2.0
//
// The interleaved schedule of Megatron-LM, pipeline_parallel/schedules.py,
// forward_backward_pipelining_with_interleaving. With overlap_p2p_comm messages
// forward follow the forward step, and those backward the backward step; else
// both are one call. overlap_p2p_comm_warmup_flush is off.
#include "passes/schedules/Grouped.h"
#include "passes/schedules/Schedules.h"
#include <algorithm>

using namespace foretrace;
using namespace foretrace::ir;

namespace {

class Interleaved {
public:
  /// \p IsFlushed if all stages run every step forward first. \p IsOverlapped
  /// if forward and backward steps of the steady state overlap, for which there
  /// is one forward step more ahead.
  /// \p IsApart if messages forward and backward are calls of their own.
  Interleaved(ScheduleBuilder &B, bool IsFlushed, bool IsOverlapped,
              bool IsApart)
      : B(B), Order(B), I(B.i()), Steps(B.v() * B.m()), IsFlushed(IsFlushed),
        IsOverlapped(IsOverlapped), IsApart(IsApart) {}

  void build();

private:
  int64_t flushedStages() const;
  void forwardSteps(IndexExpr Count, IndexExpr From);
  void recvForwardAfter(IndexExpr K);
  void recvBackwardAfter(IndexExpr K);
  void flushed();
  void alternating();

  ScheduleBuilder &B;
  const GroupedOrder Order;
  const IndexExpr I, Steps;
  const bool IsFlushed, IsOverlapped, IsApart;
  bool IsFirst = false, IsLast = false; ///< of the program that is written
};

} // namespace

/// Stages, from the first one on, that run every step forward before the first
/// one backward.
int64_t Interleaved::flushedStages() const {
  const Schedule &S = B.schedule();
  if (IsFlushed)
    return S.Stages;
  // Two steps for each stage that follows, besides those for all chunks but
  // one.
  const int64_t Ahead = (S.Chunks * S.MicroBatches - (S.Chunks - 1) * S.Group -
                         IsOverlapped + 1) /
                        2;
  return std::clamp<int64_t>(S.Stages - Ahead, 0, S.Stages);
}

/// With forward step \p K. The first stage gets what the last one computed
/// p - 1 steps ago, for its next chunk.
void Interleaved::recvForwardAfter(IndexExpr K) {
  if (!IsFirst) {
    B.with().recvForward(Order.forward(K + 1));
    return;
  }
  const StepExpr Of = Order.forward(K - B.p() + 1);
  B.with().recvForward({Of.MicroBatch, Of.Chunk + 1});
}

/// With backward step \p K. The last stage gets what the first one computed
/// p - 1 steps ago, for the chunk before.
void Interleaved::recvBackwardAfter(IndexExpr K) {
  if (!IsLast) {
    B.with().recvBackward(Order.backward(K + 1));
    return;
  }
  const StepExpr Of = Order.backward(K - B.p() + 1);
  B.with().recvBackward({Of.MicroBatch, Of.Chunk - 1});
}

void Interleaved::forwardSteps(IndexExpr Count, IndexExpr From) {
  const StepExpr Of = Order.forward(From + I);
  B.loop(SchedulePhase::Warmup, Count).forward(Of).sendForward(Of);
  recvForwardAfter(From + I);
}

void Interleaved::flushed() {
  forwardSteps(Steps, B.number(0));
  if (!IsLast)
    B.once(SchedulePhase::Cooldown).recvBackward(Order.backward(B.number(0)));
  B.loop(SchedulePhase::Cooldown, Steps)
      .backward(Order.backward(I))
      .sendBackward(Order.backward(I));
  recvBackwardAfter(I);
}

void Interleaved::alternating() {
  const IndexExpr Ahead =
      B.named("w", 2 * (B.p() - B.s() - 1) + (B.v() - 1) * B.g() +
                       (IsOverlapped ? 1 : 0));
  if (IsLast) {
    forwardSteps(Ahead, B.number(0));
  } else {
    forwardSteps(Ahead - 1, B.number(0));
    forwardSteps(B.number(1), Ahead - 1);
    if (!IsApart)
      B.with();
    B.recvBackward(Order.backward(B.number(0)));
  }
  const StepExpr Forward = Order.forward(Ahead + I);
  const StepExpr Backward = Order.backward(I);
  B.loop(SchedulePhase::Steady, Steps - Ahead).forward(Forward);
  if (IsOverlapped)
    B.overlapped().backward(Backward);
  else if (!IsApart)
    B.backward(Backward);
  B.sendForward(Forward);
  if (IsApart) {
    recvForwardAfter(Ahead + I);
    if (!IsOverlapped)
      B.backward(Backward);
    B.sendBackward(Backward);
  } else {
    B.with().sendBackward(Backward);
    recvForwardAfter(Ahead + I);
  }
  recvBackwardAfter(I);
  const IndexExpr Rest = Steps - Ahead + I;
  B.loop(SchedulePhase::Cooldown, Ahead)
      .backward(Order.backward(Rest))
      .sendBackward(Order.backward(Rest));
  recvBackwardAfter(Rest);
}

void Interleaved::build() {
  const int64_t Last = B.schedule().Stages - 1;
  const int64_t Flushed = flushedStages();
  // The first stage, the last one, and where flushed ones end.
  for (int64_t End :
       {int64_t(0), std::min(Flushed, Last) - 1, Last - 1, Last}) {
    if (!B.program(End))
      continue;
    const StageProgram &Of = B.schedule().Programs.back();
    IsFirst = Of.First == 0;
    IsLast = End == Last;
    B.once(SchedulePhase::Warmup).recvForward(Order.forward(B.number(0)));
    if (Of.First < Flushed)
      flushed();
    else
      alternating();
    B.finalize();
  }
}

bool foretrace::overlapsMessages(const ParallelSpec &Par) {
  return *Par.Schedule == ScheduleKind::Interleaved &&
         !Par.OverlapP2p.is(false);
}

/// Up to core 0.9 as many micro-batches as stages were flushed.
void foretrace::buildInterleaved(ScheduleBuilder &B, const ParallelSpec &Par) {
  const Schedule &S = B.schedule();
  const bool IsFlushed =
      *Par.Megatron < MegatronVersion::V0_10 && S.MicroBatches == S.Stages;
  Interleaved(B, IsFlushed, *Par.OverlapExpertComm, overlapsMessages(Par))
      .build();
}
