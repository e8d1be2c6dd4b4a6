// SPDX-License-Identifier: Apache-2.0
#include "backends/schedule/Figures.h"
#include "analysis/InFlight.h"
#include <algorithm>

using namespace foretrace;
using namespace foretrace::ir;
using namespace foretrace::schedule;

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
    Of.PeakUntilWeights = peakInFlight(S, Stage, Release::WeightGradients);
    Of.PeakUntilInputs = peakInFlight(S, Stage, Release::InputGradients);
    Work = std::max(Work, Of.Work);
    SpanBubble = std::max(SpanBubble, Of.end() - Of.start() - Of.Work);
  }
  Makespan = Run.length();
}
