// SPDX-License-Identifier: Apache-2.0
//
// schedule: the program that every kind of stage runs, from the builder that
// ir/model/Schedules.def names (passes/schedules/).

#include "passes/Passes.h"
#include "passes/schedules/Schedules.h"

using namespace foretrace;
using namespace foretrace::ir;

static constexpr void (*Builders[])(ScheduleBuilder &, const ParallelSpec &) = {
#define SCHEDULE(ENUMERATOR, ...) build##ENUMERATOR,
#include "ir/model/Schedules.def"
};

bool foretrace::buildSchedule(Program &P, DiagnosticEngine &) {
  const ParallelSpec &Par = P.Spec.Parallel;
  const ScheduleInfo &Info = getInfo(*Par.Schedule);
  Schedule S;
  S.Kind = *Par.Schedule;
  S.Placement = placementOf(Par);
  S.Transport = overlapsMessages(Par) ? Transport::Eager : Info.Transport;
  S.Stages = *Par.Pp;
  S.Chunks = S.Placement == PlacementKind::Bidirectional ? 2 : *Par.Vpp;
  S.MicroBatches = *Par.Ga;
  S.Group = *Par.MicroBatchGroup;
  ScheduleBuilder B(S);
  Builders[static_cast<size_t>(S.Kind)](B, Par);
  S.prepare();
  P.Schedule = std::move(S);
  return true;
}
