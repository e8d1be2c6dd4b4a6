// SPDX-License-Identifier: Apache-2.0
#include "ir/schedule/Timeline.h"
#include "llvm/ADT/STLExtras.h"

using namespace foretrace;
using namespace foretrace::ir;

namespace {

struct SpansOfStages : StageRuns {
  using StageRuns::StageRuns;
  std::vector<std::vector<Timeline::Span>> Spans =
      std::vector<std::vector<Timeline::Span>>(size());

  void end(size_t I, int64_t Start, int64_t End) {
    Spans[I].push_back({Start, End, {actions(I).begin(), actions(I).end()}});
  }
};

} // namespace

Timeline::Timeline(const Schedule &S, ActionDuration Duration) {
  SpansOfStages Runs(S, Duration);
  Rendezvous<SpansOfStages> Engine(Runs, Runs.size());
  Stuck = !Engine.run();
  Length = Engine.end();
  Stages = std::move(Runs.Spans);
}

int64_t Timeline::work(int64_t Stage) const {
  int64_t Sum = 0;
  for (const Span &Of : spans(Stage))
    if (llvm::any_of(Of.Actions,
                     [](const Action &A) { return isCompute(A.Kind); }))
      Sum += Of.End - Of.Start;
  return Sum;
}

int64_t foretrace::ir::unitTime(int64_t, const Action &A) {
  switch (A.Kind) {
  case ActionKind::Forward:
  case ActionKind::BackwardInput:
  case ActionKind::BackwardWeight:
    return 1;
  case ActionKind::Backward:
    return 2;
  case ActionKind::RecvForward:
  case ActionKind::SendForward:
  case ActionKind::RecvBackward:
  case ActionKind::SendBackward:
  case ActionKind::Reduce:
  case ActionKind::Step:
    return 0;
  }
  llvm_unreachable("every action is handled");
}
