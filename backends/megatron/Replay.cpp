// SPDX-License-Identifier: Apache-2.0
#include "backends/megatron/Replay.h"
#include "ir/schedule/Rendezvous.h"
#include "lang/diagnostics/Backends.h"
#include "lang/diagnostics/Lang.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include <set>

using namespace foretrace;
using namespace foretrace::megatron;

namespace {

/// A stage on its way through its rows.
struct StageCursor {
  std::vector<TraceRow> Rows;
  const ir::Stage *Stage = nullptr;
  size_t At = 0;    ///< the first row of the call it is in
  size_t Until = 0; ///< the row after that call

  const TraceRow &part(size_t I) const { return Rows[At + I]; }
};

/// The stages as actors of ir::Rendezvous, whose calls are rows.
class Simulation {
public:
  Simulation(const ir::Program &P, const Skeleton &S,
             std::vector<std::vector<IterationReplay::Span>> &Spans);

  void run();
  /// Returns the times from each stage's start to its last micro-batch row.
  std::vector<int64_t> pipelines() const;

  // The interface that ir::Rendezvous calls.
  bool begin(size_t Actor);
  size_t parts(size_t Actor) const {
    return Stages[Actor].Until - Stages[Actor].At;
  }
  ir::Meeting meeting(size_t Actor, size_t Part) const;
  int64_t duration(size_t Actor, size_t Part);
  void end(size_t Actor, int64_t Start, int64_t End);

private:
  int64_t members(const TraceRow &R) const;

  const ir::Program &P;
  const bool IsAlone;
  const Timing Times;
  const int64_t HostGap; ///< before each call, as a part of it
  std::vector<std::vector<IterationReplay::Span>> &Spans;
  std::vector<StageCursor> Stages;
  llvm::DenseMap<const RowBody *, int64_t> Known; ///< durations of rows
};

} // namespace

Simulation::Simulation(const ir::Program &P, const Skeleton &S,
                       std::vector<std::vector<IterationReplay::Span>> &Spans)
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

/// Returns how many stages take part in a row. Ranks of one stage are alike and
/// need not wait for each other. The first and the last stage reduce the
/// embedding; all stages exchange the gradient norm before an update.
int64_t Simulation::members(const TraceRow &R) const {
  if (IsAlone) // there are no neighbours to wait for
    return 1;
  switch (R.Body->Kind) {
  case RowKind::RecvForward:
  case RowKind::SendForward:
  case RowKind::RecvBackward:
  case RowKind::SendBackward:
  case RowKind::EpAllReduce:
    return 2;
  case RowKind::OptimizerStep:
    return P.Schedule.Stages;
  default:
    return 1;
  }
}

/// Both sides of a message, and all members of a group, give it one number. The
/// embedding is reduced once an iteration, and parameters updated.
ir::Meeting Simulation::meeting(size_t Actor, size_t Part) const {
  enum : size_t { Embedding, Update, FirstMessage };
  const TraceRow &R = Stages[Actor].part(Part);
  if (auto M = ir::messageOf(P.Schedule, R.Stage, R.From)) {
    const int64_t OfDirection = M->MicroBatch * P.Schedule.parts() + M->Part;
    return {FirstMessage + static_cast<size_t>(2 * OfDirection) + M->IsForward,
            members(R)};
  }
  return {R.Body->Kind == RowKind::EpAllReduce ? Embedding : Update,
          members(R)};
}

/// Rows that are fused are one call of batched sends and receives, which ends
/// with the last of them.
bool Simulation::begin(size_t Actor) {
  StageCursor &T = Stages[Actor];
  T.At = T.Until;
  if (T.At == T.Rows.size())
    return false;
  ++T.Until;
  while (T.Until < T.Rows.size() && T.Rows[T.Until].From.isFused())
    ++T.Until;
  return true;
}

int64_t Simulation::duration(size_t Actor, size_t Part) {
  const StageCursor &T = Stages[Actor];
  const TraceRow &R = T.part(Part);
  auto [It, IsNew] = Known.try_emplace(R.Body, 0);
  if (IsNew)
    It->second = Times.total(*R.Body, *T.Stage, R.From.Chunk);
  return HostGap + It->second;
}

/// Each row of a call is logged with the time of the whole call.
void Simulation::end(size_t Actor, int64_t Start, int64_t End) {
  Spans[Actor].insert(Spans[Actor].end(), parts(Actor), {Start + HostGap, End});
}

void Simulation::run() {
  ir::Rendezvous<Simulation> Engine(*this, Stages.size());
  if (!Engine.run())
    for (std::vector<IterationReplay::Span> &S : Spans)
      S.clear(); // how far they came is no schedule
}

std::vector<int64_t> Simulation::pipelines() const {
  std::vector<int64_t> Out;
  for (const StageCursor &T : Stages) {
    llvm::ArrayRef<IterationReplay::Span> Of = Spans[Out.size()];
    size_t Last = T.Rows.size() - 1;
    while (Last > 0 && T.Rows[Last].From.Phase == ir::SchedulePhase::Finalize)
      --Last;
    Out.push_back(Of.empty() ? 0 : Of[Last].End - Of.front().Start);
  }
  return Out;
}

IterationReplay::IterationReplay(const ir::Program &P, const Skeleton &S)
    : Times(P) {
  Simulation Run(P, S, Spans);
  Run.run();
  Pipelines = Run.pipelines();
}

/// The places of calls within a row are unknown: computations before, between
/// and after them are assumed to take equally long.
RowTimes IterationReplay::times(const TraceRow &R, size_t Index) const {
  const Span Of = spans(R.Stage)[Index];
  RowTimes Out{Of.End - Of.Start, Of.End, {}};
  llvm::ArrayRef<SubOperation> Calls = R.Body->SubOperations;
  int64_t Busy = 0;
  for (const SubOperation &Call : Calls) {
    Out.Calls.push_back({Times.transfer(Times.messageOf(Call)), {}});
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
  auto NeedLink = [&](RowKind Of, const ir::ProcessGroup &G) {
    const ir::Axis A = Timing::linkOf(G);
    if (*P.Spec.Cost.Kind == ir::CostKind::Estimate ||
        P.Spec.Cost.findLink(A) || !Missing.insert(A).second)
      return;
    Diags.report(Asked, diag::MegatronNoLink, getName(Of), getName(A));
    IsGood = false;
  };
  auto CheckLink = [&](RowKind Of, const TraceMessage &M) {
    if (Times.groupSize(*M.Ranks) > 1)
      NeedLink(Of, *M.Ranks);
  };
  llvm::DenseSet<const RowBody *> Seen; // rows are many, bodies few
  for (const ir::Stage &Of : P.Stages)
    S.forEachRow(Of.First, [&](const TraceRow &R) {
      if (!Seen.insert(R.Body).second)
        return true;
      const RowKind Kind = R.Body->Kind;
      if (std::optional<TraceMessage> M = Times.messageOf(*R.Body))
        CheckLink(Kind, *M);
      for (const SubOperation &Call : R.Body->SubOperations)
        CheckLink(Kind, Times.messageOf(Call));
      for (const Transfer &T : R.Body->Transfers)
        NeedLink(Kind, processGroup(T.Group));
      if (Times.total(*R.Body, Of, R.From.Chunk) == Timing::MaxTime) {
        Diags.report(Asked, diag::TimeTooLong, getName(Kind),
                     ir::ProfileTime::MaxSeconds);
        IsGood = false;
      }
      return true;
    });
  return IsGood;
}
