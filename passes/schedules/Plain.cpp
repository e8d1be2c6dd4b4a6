// SPDX-License-Identifier: Apache-2.0
//
// Schedules of stages with a single chunk.
#include "passes/schedules/Schedules.h"

using namespace foretrace;
using namespace foretrace::ir;

/// The forward step of a micro-batch beside the backward step of the one before
/// (Megatron-LM, combined_1f1b.py, combined_1f1b_schedule_for_no_pipelining).
static void overlapOnStage(ScheduleBuilder &B) {
  B.program();
  B.once(SchedulePhase::Warmup).forward(B.step(B.number(0)));
  B.loop(SchedulePhase::Steady, B.m() - 1).forward(B.step(B.i() + 1));
  B.overlapped();
  B.backward(B.step(B.i()));
  B.once(SchedulePhase::Cooldown).backward(B.step(B.m() - 1));
  B.finalize();
}

void foretrace::buildNone(ScheduleBuilder &B, const ParallelSpec &Par) {
  if (*Par.OverlapExpertComm)
    return overlapOnStage(B);
  const StepExpr Of = B.step(B.i());
  B.program();
  B.loop(SchedulePhase::Steady, B.m()).forward(Of).backward(Of);
  B.finalize();
}

void foretrace::buildForward(ScheduleBuilder &B, const ParallelSpec &) {
  B.program();
  B.loop(SchedulePhase::Steady, B.m()).forwardStep(B.step(B.i()));
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
