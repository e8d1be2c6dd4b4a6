// SPDX-License-Identifier: Apache-2.0
#include "backends/schedule/Figures.h"
#include <algorithm>

using namespace foretrace;
using namespace foretrace::ir;
using namespace foretrace::schedule;

/// Follows what a stage keeps.
static void findPeaks(StageFigures &Of) {
  int64_t UntilWeights = 0, UntilInputs = 0;
  for (const Span &At : Of.Spans)
    for (const Action &A : At.Steps) {
      const bool IsForward = A.Kind == ActionKind::Forward;
      UntilWeights += IsForward - (A.Kind == ActionKind::Backward ||
                                   A.Kind == ActionKind::BackwardWeight);
      UntilInputs += IsForward - (A.Kind == ActionKind::Backward ||
                                  A.Kind == ActionKind::BackwardInput);
      Of.PeakUntilWeights = std::max(Of.PeakUntilWeights, UntilWeights);
      Of.PeakUntilInputs = std::max(Of.PeakUntilInputs, UntilInputs);
    }
}

schedule::PipelineFigures::PipelineFigures(const Program &P, StepTime Time)
    : Time(Time) {
  const Schedule &S = P.Schedule;
  const Timeline Run = runSteps(P, S, Time);
  for (int64_t Stage = 0; Stage < S.Stages; ++Stage) {
    StageFigures &Of = Stages.emplace_back();
    for (const Timeline::Span &At : Run.spans(Stage))
      if (isCompute(At.Actions.front().Kind))
        Of.Spans.push_back({At.Start, At.End, At.Actions});
    Of.Work = Run.work(Stage);
    findPeaks(Of);
    Work = std::max(Work, Of.Work);
    SpanBubble = std::max(SpanBubble, Of.end() - Of.start() - Of.Work);
  }
  Makespan = Run.length();
}
