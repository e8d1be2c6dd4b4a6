// SPDX-License-Identifier: Apache-2.0
#include "backends/ranks/StepRun.h"
#include "analysis/StepTimes.h"
#include "ir/model/Boundary.h"
#include "ir/ranks/StepOps.h"
#include "lang/diagnostics/Backends.h"
#include "lang/diagnostics/Lang.h"

using namespace foretrace;
using namespace foretrace::ir;

StepTime foretrace::bestTimeOf(const Program &P) {
  return *P.Spec.Cost.Kind == CostKind::Uncosted ? StepTime::Unit
                                                 : StepTime::Cost;
}

/// Returns whether steps have times with a sum below 2^63.
static bool checkTimes(const Program &P, SourceRange Range,
                       DiagnosticEngine &Diags) {
  if (bestTimeOf(P) == StepTime::Unit) {
    Diags.report(Range, diag::ScheduleNoTimes);
    return false;
  }
  const bool IsOverflow = timeOfSteps(P).isOverflow();
  if (IsOverflow)
    Diags.report(Range, diag::SizeOverflow, "the time of all steps");
  return !IsOverflow;
}

bool foretrace::checkStepRun(const EmitRequest &Request, StepTime Time,
                             SourceRange TimeRange, DiagnosticEngine &Diags) {
  constexpr int64_t MaxSteps = int64_t(1) << 20; // some hundreds of megabytes
  const Schedule &S = Request.Program.Schedule;
  if (Time == StepTime::Cost && !checkTimes(Request.Program, TimeRange, Diags))
    return false;
  const Elements Steps = Elements(S.steps()) * 2 * S.Stages;
  if (!Steps.isOverflow() && Steps.value() <= MaxSteps)
    return true;
  Diags.report(Request.Emit.Range, diag::ScheduleTooLarge, S.Stages, S.Chunks,
               S.MicroBatches, MaxSteps);
  return false;
}

Timeline foretrace::runSteps(const Program &P, const Schedule &S,
                             StepTime Time) {
  if (Time == StepTime::Unit)
    return Timeline(S, unitTime);
  return Timeline(S, StepTimes(P));
}

int64_t foretrace::bytesOf(const Program &P, int64_t Stage, const Action &A) {
  const ir::PipelineMessage M = *messageOf(P.Schedule, Stage, A);
  return boundaryBytes(P, boundaryAfter(P, M.Part, M.IsForward)).value();
}

SourceRange foretrace::placeOf(const Spec &Job, const Action &A) {
  if (A.Of && A.Of->Range.isValid())
    return A.Of->Range;
  if (isMessage(A.Kind))
    return Job.Parallel.Pp.Range;
  return Job.Model.LayersRange;
}
