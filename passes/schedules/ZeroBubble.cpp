// SPDX-License-Identifier: Apache-2.0
//
// Schedules that fill their bubbles with gradients of parameters, which no
// other stage waits for: Qi et al., arXiv 2401.10241. The orders are those of
// PyTorch, torch.distributed.pipelining.schedules.
#include "passes/schedules/Grouped.h"
#include "passes/schedules/Schedules.h"

using namespace foretrace;
using namespace foretrace::ir;

/// ScheduleInterleavedZeroBubble. Stage s leaves the gradients of the
/// parameters of s steps for later.
void foretrace::buildInterleavedZeroBubble(ScheduleBuilder &B,
                                           const ParallelSpec &) {
  const GroupedOrder Order(B);
  const IndexExpr I = B.i(), Steps = B.v() * B.m();
  const IndexExpr Ahead =
      B.named("w", min(B.p() - B.s() - 1 + (B.v() - 1) * B.g(), Steps));
  const IndexExpr Late = B.named("late", min(B.s(), Steps));
  B.program();
  B.loop(SchedulePhase::Warmup, Ahead).forwardStep(Order.forward(I));
  B.loop(SchedulePhase::Steady, Steps - Ahead)
      .forwardStep(Order.forward(Ahead + I))
      .backwardInputStep(Order.backward(I))
      .backwardWeight(Order.backward(I - B.s()));
  const IndexExpr Rest = Steps - Ahead + I;
  B.loop(SchedulePhase::Cooldown, Ahead)
      .backwardInputStep(Order.backward(Rest))
      .backwardWeight(Order.backward(Rest - B.s()));
  B.loop(SchedulePhase::Cooldown, Late)
      .backwardWeight(Order.backward(Steps - Late + I));
  B.finalize();
}

/// ZB-H1: as many micro-batches in flight as in 1F1B.
void foretrace::buildZeroBubbleH1(ScheduleBuilder &B, const ParallelSpec &Par) {
  buildInterleavedZeroBubble(B, Par);
}

/// ScheduleZBVZeroBubble: two chunks a stage, down and up again.
void foretrace::buildZeroBubbleV(ScheduleBuilder &B, const ParallelSpec &) {
  const IndexExpr I = B.i(), P = B.p(), S = B.s();
  auto Down = [&](IndexExpr K) { return StepExpr{K, B.number(0)}; };
  auto Up = [&](IndexExpr K) { return StepExpr{K, B.number(1)}; };
  // With fewer micro-batches than fill the pipeline, those that are missing
  // are left out.
  const IndexExpr Batches = B.named("n", max(B.m(), 2 * P - 1));
  const IndexExpr Ahead = B.named("w", 2 * (P - S) - 1);
  B.program();
  B.loop(SchedulePhase::Warmup, Ahead).forwardStep(Down(I));
  B.loop(SchedulePhase::Warmup, S)
      .forwardStep(Up(I))
      .forwardStep(Down(Ahead + I));
  B.loop(SchedulePhase::Warmup, P - S)
      .forwardStep(Up(S + I))
      .backwardInputStep(Up(I))
      .backwardWeight(Up(I));
  B.loop(SchedulePhase::Steady, Batches - P)
      .forwardStep(Down(Ahead + S + I))
      .backwardInputStep(Down(I))
      .backwardWeight(Down(I))
      .forwardStep(Up(P + I))
      .backwardInputStep(Up(P - S + I))
      .backwardWeight(Up(P - S + I));
  B.loop(SchedulePhase::Cooldown, S)
      .backwardInputStep(Down(Batches - P + I))
      .backwardInputStep(Up(Batches - S + I));
  B.loop(SchedulePhase::Cooldown, P - S)
      .backwardInputStep(Down(Batches - P + S + I))
      .backwardWeight(Down(Batches - P + I));
  B.loop(SchedulePhase::Cooldown, S).backwardWeight(Up(Batches - S + I));
  B.loop(SchedulePhase::Cooldown, S).backwardWeight(Down(Batches - S + I));
  B.finalize();
}
