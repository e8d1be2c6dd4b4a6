// SPDX-License-Identifier: Apache-2.0
//
// schedule: the order in which every stage runs its micro-batches and chunks,
// as a closed form of the stage's number (ir/Schedule.h unfolds it).

#include "passes/Passes.h"

using namespace foretrace;
using namespace foretrace::ir;

bool foretrace::scheduleSteps(Program &P, DiagnosticEngine &) {
  const ParallelSpec &Par = P.Spec.Parallel;
  Schedule &S = P.Schedule;
  S.Kind = *Par.Schedule;
  S.Stages = *Par.Pp;
  S.Chunks = *Par.Vpp;
  S.Steps = *Par.Ga * S.Chunks;
  switch (S.Kind) {
  case ScheduleKind::None:
    break;
  case ScheduleKind::OneFOneB: // a micro-batch for each stage that follows
    S.WarmupBase = S.Stages - 1;
    S.WarmupPerStage = 1;
    break;
  case ScheduleKind::Interleaved:
    S.Group = *Par.MicroBatchGroup;
    if (*Par.Ga == S.Stages && *Par.Megatron < MegatronVersion::V0_10) {
      S.WarmupBase = S.Steps; // no steady state
      break;
    }
    S.WarmupBase = 2 * (S.Stages - 1) + (S.Chunks - 1) * S.Group;
    S.WarmupPerStage = 2;
    break;
  case ScheduleKind::GPipe: // all forward, then all backward
    S.WarmupBase = S.Steps;
    break;
  }
  return true;
}
