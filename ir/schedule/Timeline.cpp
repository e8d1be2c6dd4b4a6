// SPDX-License-Identifier: Apache-2.0
#include "ir/schedule/Timeline.h"
#include "ir/schedule/StageCalls.h"
#include "llvm/ADT/STLExtras.h"

using namespace foretrace;
using namespace foretrace::ir;

namespace {

struct Client {
  llvm::function_ref<int64_t(int64_t, const Action &)> Duration;
  std::vector<StageCalls> Calls;
  std::vector<std::vector<Timeline::Span>> Spans;

  bool begin(size_t I) { return Calls[I].next(); }
  size_t parts(size_t I) const { return Calls[I].actions().size(); }
  Meeting meeting(size_t I, size_t Part) const {
    Meeting M = Calls[I].meeting(Part);
    if (isSend(action(I, Part).Kind))
      M.Delay = Duration(Calls[I].stage(), action(I, Part));
    return M;
  }
  int64_t duration(size_t I, size_t Part) const {
    return isMessage(action(I, Part).Kind)
               ? 0
               : Duration(Calls[I].stage(), action(I, Part));
  }
  const Action &action(size_t I, size_t Part) const {
    return Calls[I].actions()[Part];
  }
  void end(size_t I, int64_t Start, int64_t End) {
    llvm::ArrayRef<Action> Actions = Calls[I].actions();
    Spans[I].push_back({Start, End, {Actions.begin(), Actions.end()}});
  }
};

} // namespace

Timeline::Timeline(
    const Schedule &S,
    llvm::function_ref<int64_t(int64_t Stage, const Action &)> Duration) {
  Client C{Duration, {}, {}};
  for (int64_t Stage = 0; Stage < S.Stages; ++Stage)
    C.Calls.emplace_back(S, Stage, CallMessages::AroundSteps);
  C.Spans.resize(C.Calls.size());
  Rendezvous<Client> Engine(C, C.Calls.size());
  Stuck = !Engine.run();
  Length = Engine.end();
  Stages = std::move(C.Spans);
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
