// SPDX-License-Identifier: Apache-2.0
#include "backends/megatron/Replay.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include <map>
#include <set>

using namespace foretrace;
using namespace foretrace::megatron;
using ir::ActionKind;

namespace {

/// What both sides of a message, or all members of a group, call it: the kind
/// of row, or for messages those of ir::PipelineMessage.
using Name = std::tuple<llvm::StringRef, int64_t, int64_t>;

/// Something that ends for all that take part at once.
struct Rendezvous {
  int64_t Start = 0; ///< when the last one came, so far
  int64_t Come = 0, Gone = 0;
};

/// A stage on its way through its rows.
struct StageCursor {
  std::vector<Row> Rows;
  const ir::Stage *Stage = nullptr;
  size_t At = 0;    ///< the row that begins the next call
  size_t Until = 0; ///< the row after that call; At if it has not begun
  int64_t Clock = 0;
};

class Simulation {
public:
  Simulation(const ir::Program &P, const Skeleton &S,
             std::vector<std::vector<Replay::Span>> &Spans);

  void run();
  /// From the start of each stage to its last row of a micro-batch.
  std::vector<int64_t> pipelines() const;

private:
  bool advance(StageCursor &T);
  void beginCall(StageCursor &T);
  bool endCall(StageCursor &T);
  int64_t members(const Row &R) const;
  Name nameOf(const Row &R) const;
  int64_t timeOf(const StageCursor &T, const Row &R);

  const ir::Program &P;
  const bool IsAlone;
  const Timing Times;
  const int64_t HostGap;
  std::vector<std::vector<Replay::Span>> &Spans;
  std::vector<StageCursor> Stages;
  std::map<Name, Rendezvous> Pending;
  llvm::DenseMap<const RowBody *, int64_t> Known; ///< timeOf
};

} // namespace

Simulation::Simulation(const ir::Program &P, const Skeleton &S,
                       std::vector<std::vector<Replay::Span>> &Spans)
    : P(P), IsAlone(S.instrumentation().Scaling), Times(P),
      HostGap(Times.hostGap()), Spans(Spans) {
  for (const ir::Stage &Of : P.Stages)
    for (int64_t I = 0; I < Of.Count; ++I) {
      StageCursor T;
      T.Rows = S.rows(Of.First + I);
      T.Stage = &Of;
      Stages.push_back(std::move(T));
      Spans.emplace_back();
    }
}

/// How many stages take part in a row.
int64_t Simulation::members(const Row &R) const {
  if (IsAlone)
    return 1;
  switch (R.From.Kind) {
  case ActionKind::Forward:
  case ActionKind::Backward:
  case ActionKind::BackwardInput:
  case ActionKind::BackwardWeight:
    return 1;
  case ActionKind::Reduce:
  case ActionKind::Step:
    if (R.Body->GroupKind == "ep")
      return 2;
    return R.Body->Op == "optimizer_step" ? P.Schedule.Stages : 1;
  default:
    return 2;
  }
}

Name Simulation::nameOf(const Row &R) const {
  if (auto M = ir::messageOf(P.Schedule, R.Stage, R.From))
    return {M->IsForward ? "forward" : "backward", M->MicroBatch, M->Part};
  return {R.Body->Op, 0, 0};
}

int64_t Simulation::timeOf(const StageCursor &T, const Row &R) {
  auto [It, IsNew] = Known.try_emplace(R.Body, 0);
  if (IsNew)
    It->second = Times.total(*R.Body, *T.Stage, R.From.Chunk);
  return It->second;
}

void Simulation::beginCall(StageCursor &T) {
  T.Until = T.At + 1;
  while (T.Until < T.Rows.size() && T.Rows[T.Until].From.isFused())
    ++T.Until;
  T.Clock += HostGap;
  for (size_t I = T.At; I < T.Until; ++I)
    if (members(T.Rows[I]) > 1) {
      Rendezvous &M = Pending[nameOf(T.Rows[I])];
      M.Start = std::max(M.Start, T.Clock);
      ++M.Come;
    }
}

bool Simulation::endCall(StageCursor &T) {
  int64_t End = T.Clock;
  for (size_t I = T.At; I < T.Until; ++I) {
    const Row &R = T.Rows[I];
    const int64_t Members = members(R);
    int64_t Start = T.Clock;
    if (Members > 1) {
      const Rendezvous &M = Pending[nameOf(R)];
      if (M.Come < Members)
        return false;
      Start = M.Start;
    }
    End = std::max(End, Start + timeOf(T, R));
  }
  std::vector<Replay::Span> &Out = Spans[static_cast<size_t>(T.Rows[0].Stage)];
  for (size_t I = T.At; I < T.Until; ++I) {
    const Row &R = T.Rows[I];
    if (members(R) > 1)
      if (auto It = Pending.find(nameOf(R)); ++It->second.Gone == members(R))
        Pending.erase(It);
    Out.push_back({T.Clock, End});
  }
  T.Clock = End;
  T.At = T.Until;
  return true;
}

/// Takes a stage as far as it comes; whether that is anywhere.
bool Simulation::advance(StageCursor &T) {
  bool HasMoved = false;
  while (T.At < T.Rows.size()) {
    if (T.Until == T.At) {
      beginCall(T);
      HasMoved = true;
    }
    if (!endCall(T))
      break;
    HasMoved = true;
  }
  return HasMoved;
}

void Simulation::run() {
  for (bool HasMoved = true; HasMoved;) {
    HasMoved = false;
    for (StageCursor &T : Stages)
      HasMoved |= advance(T);
  }
  if (llvm::any_of(Stages,
                   [](const StageCursor &T) { return T.At < T.Rows.size(); }))
    for (std::vector<Replay::Span> &S : Spans)
      S.clear();
}

std::vector<int64_t> Simulation::pipelines() const {
  std::vector<int64_t> Out;
  for (const StageCursor &T : Stages) {
    llvm::ArrayRef<Replay::Span> Of = Spans[Out.size()];
    size_t Last = T.Rows.size() - 1;
    while (Last > 0 && T.Rows[Last].From.Phase == ir::SchedulePhase::Finalize)
      --Last;
    Out.push_back(Of.empty() ? 0 : Of[Last].End - Of.front().Start);
  }
  return Out;
}

Replay::Replay(const ir::Program &P, const Skeleton &S) : Times(P) {
  Simulation Run(P, S, Spans);
  Run.run();
  Pipelines = Run.pipelines();
}

RowTimes Replay::times(const Row &R, size_t Index) const {
  const Span Of = spans(R.Stage)[Index];
  RowTimes Out{Of.End - Of.Start, Of.End, {}};
  llvm::ArrayRef<SubOperation> Calls = R.Body->SubOperations;
  int64_t Busy = 0;
  for (const SubOperation &Call : Calls) {
    Out.Calls.emplace_back(Times.transfer(Timing::messageOf(Call)), 0);
    Busy += Out.Calls.back().first;
  }
  const auto Parts = static_cast<int64_t>(Calls.size()) + 1;
  const int64_t Computing = std::max<int64_t>(Out.Duration - Busy, 0);
  int64_t Clock = Of.Start;
  for (size_t I = 0; I < Calls.size(); ++I) {
    auto &[Duration, End] = Out.Calls[I];
    Clock += Duration;
    End = Clock + Computing * static_cast<int64_t>(I + 1) / Parts;
  }
  return Out;
}

bool foretrace::megatron::checkDurations(const ir::Program &P,
                                         const Skeleton &S, SourceRange Asked,
                                         DiagnosticEngine &Diags) {
  const Timing Times(P);
  bool IsGood = true;
  std::set<ir::Axis> Missing;
  auto NeedLink = [&](llvm::StringRef Op, const ir::ProcessGroup &G) {
    const ir::Axis A = Timing::linkOf(G);
    if (P.Spec.Cost.findLink(A) || !Missing.insert(A).second)
      return;
    Diags.report(Asked, diag::MegatronNoLink, Op, getName(A));
    IsGood = false;
  };
  auto CheckLink = [&](llvm::StringRef Op, const Message &M) {
    const ir::ProcessGroup *G = Timing::groupOf(M.GroupKind);
    if (G && Times.groupSize(*G) > 1)
      NeedLink(Op, *G);
  };
  llvm::DenseSet<const RowBody *> Seen;
  for (const ir::Stage &Of : P.Stages)
    S.forEachRow(Of.First, [&](const Row &R) {
      if (!Seen.insert(R.Body).second)
        return true;
      if (std::optional<Message> M = Timing::messageOf(*R.Body))
        CheckLink(R.Body->Op, *M);
      for (const SubOperation &Call : R.Body->SubOperations)
        CheckLink(R.Body->Op, Timing::messageOf(Call));
      for (const Transfer &T : R.Body->Transfers)
        NeedLink(R.Body->Op, *Timing::groupOf(T.GroupKind));
      if (Times.total(*R.Body, Of, R.From.Chunk) == Timing::MaxTime) {
        Diags.report(Asked, diag::TimeTooLong, R.Body->Op,
                     ir::ProfileTime::MaxSeconds);
        IsGood = false;
      }
      return true;
    });
  return IsGood;
}
