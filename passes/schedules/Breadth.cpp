// SPDX-License-Identifier: Apache-2.0
//
// Schedules of PyTorch with several chunks on a stage, torch.distributed
// .pipelining.schedules: ScheduleLoopedBFS and ScheduleInterleaved1F1B.
#include "passes/schedules/Grouped.h"
#include "passes/schedules/Schedules.h"

using namespace foretrace;
using namespace foretrace::ir;

/// All micro-batches through a chunk before the next one; back again from the
/// last micro-batch. Lamy-Poirier, arXiv 2211.05953.
void foretrace::buildLoopedBFS(ScheduleBuilder &B, const ParallelSpec &) {
  const IndexExpr I = B.i(), Last = B.m() - 1;
  B.program();
  B.loop(SchedulePhase::Warmup, B.v() * B.m())
      .forwardStep({I % B.m(), I / B.m()});
  B.loop(SchedulePhase::Cooldown, B.v() * B.m())
      .backwardStep({Last - I % B.m(), B.v() - 1 - I / B.m()});
  B.finalize();
}

/// The order of Megatron-LM's interleaved schedule.
void foretrace::buildInterleaved1F1B(ScheduleBuilder &B, const ParallelSpec &) {
  const GroupedOrder Order(B);
  const IndexExpr I = B.i(), Steps = B.v() * B.m();
  const IndexExpr Ahead =
      B.named("w", min(2 * (B.p() - B.s() - 1) + (B.v() - 1) * B.g(), Steps));
  B.program();
  B.loop(SchedulePhase::Warmup, Ahead).forwardStep(Order.forward(I));
  B.loop(SchedulePhase::Steady, Steps - Ahead)
      .forwardStep(Order.forward(Ahead + I))
      .backwardStep(Order.backward(I));
  B.loop(SchedulePhase::Cooldown, Ahead)
      .backwardStep(Order.backward(Steps - Ahead + I));
  B.finalize();
}
