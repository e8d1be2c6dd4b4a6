// SPDX-License-Identifier: Apache-2.0
//
// Schedules of stages with a single chunk.
#include "passes/schedules/Schedules.h"

using namespace foretrace;
using namespace foretrace::ir;

void foretrace::buildNone(ScheduleBuilder &B, const ParallelSpec &) {
  const StepExpr Of = B.step(B.i());
  B.program();
  B.loop(SchedulePhase::Steady, B.m()).forward(Of).backward(Of);
  B.finalize();
}

void foretrace::buildGPipe(ScheduleBuilder &B, const ParallelSpec &) {
  const StepExpr Of = B.step(B.i());
  B.program();
  B.loop(SchedulePhase::Warmup, B.m()).forwardStep(Of);
  B.loop(SchedulePhase::Cooldown, B.m()).backwardStep(Of);
  B.finalize();
}

/// Megatron-LM sends and receives in one call where both are due.
void foretrace::buildOneFOneB(ScheduleBuilder &B, const ParallelSpec &) {
  const IndexExpr I = B.i();
  const IndexExpr Ahead = B.named("w", min(B.p() - B.s() - 1, B.m()));
  B.program();
  B.loop(SchedulePhase::Warmup, Ahead).forwardStep(B.step(I));
  B.once(SchedulePhase::Steady).recvForward(B.step(Ahead));
  B.loop(SchedulePhase::Steady, B.m() - Ahead)
      .forward(B.step(Ahead + I))
      .sendForward(B.step(Ahead + I))
      .with()
      .recvBackward(B.step(I))
      .backward(B.step(I))
      .sendBackward(B.step(I))
      .with()
      .recvForward(B.step(Ahead + I + 1));
  B.loop(SchedulePhase::Cooldown, Ahead)
      .backwardStep(B.step(B.m() - Ahead + I));
  B.finalize();
}
