// SPDX-License-Identifier: Apache-2.0
#include "tools/runs/Calibration.h"
#include "ir/model/OpKinds.h"
#include "tools/runs/Fit.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"
#include <cmath>

using namespace foretrace;
using namespace foretrace::megatron;
using namespace foretrace::runs;
using llvm::StringRef;

Calibration::Calibration(const ir::Program &P, const Skeleton &S)
    : P(P), Plan(S), Sizes(P), Map(P.Mesh, *P.Spec.Parallel.RankOrder) {}

void Calibration::begin(int64_t OfRank, int64_t Stage) {
  Rank = OfRank;
  std::vector<TraceRow> &Of = Rows[Stage]; // the same for all ranks of a stage
  if (Of.empty())
    Of = Plan.rows(Stage);
  Planned = &Of;
  Taken = 0;
  LastEnd = Begun = -1;
  Pipelines[Rank].Stage = Stage;
}

/// Returns a time of a trace in ns; nothing for `None`.
static std::optional<double> timeOf(StringRef Text) {
  std::optional<double> Milliseconds = readNumber(Text);
  if (!Milliseconds)
    return std::nullopt;
  return *Milliseconds * 1e6;
}

/// A timestamp is the end of a row. The time between the end of a row and the
/// start of the next is the host's; a fused row has no start of its own. Clocks
/// resolve 10 us, so a row may seem to start before the last one ended.
void Calibration::take(const SeenRow &Seen) {
  const size_t Index = Taken++ % Planned->size(); // iterations are alike
  const TraceRow &Of = (*Planned)[Index];
  const std::optional<double> Duration = timeOf(Seen.Duration);
  const std::optional<double> End = timeOf(Seen.Timestamp);
  if (!Duration || !End)
    return;
  if (Index == 0)
    Begun = *End - *Duration;
  else if (LastEnd >= 0 && !Of.From.isFused())
    Gaps.push_back(std::max(0.0, *End - *Duration - LastEnd));
  LastEnd = *End;
  const bool IsLast =
      Of.From.Phase != ir::SchedulePhase::Finalize &&
      (*Planned)[Index + 1].From.Phase == ir::SchedulePhase::Finalize;
  if (IsLast && Begun >= 0)
    Pipelines[Rank].Measured.push_back(*End - Begun);

  takeStep(Of, Seen, *Duration);
  takeExperts(Of, Seen);
  // The time of a combined call can't be split among its parts.
  const bool IsCombined =
      Of.From.isFused() ||
      (Index + 1 < Planned->size() && (*Planned)[Index + 1].From.isFused());
  takeMessages(Of, Seen, *Duration, IsCombined);
}

/// Returns the message of a call as it was seen: with the router's rows.
static TraceMessage messageOf(const SubOperation &Planned,
                              const SeenCall &Seen) {
  Elements Count(1);
  for (int64_t Size :
       readShape(Seen.Shape).value_or(llvm::SmallVector<int64_t, 4>()))
    Count = Count * Size;
  return {Planned.Ranks, Planned.Comm,
          bytesOf(Count, bytesPerElement(Planned.Tensor.Element))};
}

/// A row may be a message, reduce gradients, and have calls within, each of
/// which logs its own time.
void Calibration::takeMessages(const TraceRow &Of, const SeenRow &Seen,
                               double Duration, bool IsCombined) {
  const RowBody &B = *Of.Body;
  if (std::optional<TraceMessage> M = Sizes.messageOf(B); M && !IsCombined)
    meet(Of, *M, Duration, -1);
  if (B.reduces()) {
    double WireBytes = 0;
    for (const Transfer &T : B.Transfers)
      WireBytes += Timing::wireBytes(T);
    const bool IsScattered = !B.Transfers.empty() &&
                             B.Transfers[0].Kind == ir::OpKind::ReduceScatter;
    meet(Of, processGroup(*B.Group),
         IsScattered ? ir::OpKind::ReduceScatter : ir::OpKind::AllReduce,
         WireBytes, Duration, -1);
  }
  for (size_t I = 0; I < Seen.Calls.size(); ++I)
    if (std::optional<double> Time = timeOf(Seen.Calls[I].Duration))
      meet(Of, messageOf(B.SubOperations[I], Seen.Calls[I]), *Time,
           static_cast<int64_t>(I));
}

/// Rows with one body do the same, whichever micro-batch they are of: their
/// times are samples of one quantity.
void Calibration::takeStep(const TraceRow &Of, const SeenRow &Seen,
                           double Duration) {
  auto [It, IsNew] = Steps.try_emplace(Of.Body);
  MeasuredBody &S = It->second;
  if (IsNew) {
    S.Stage = &*llvm::find_if(P.Stages, [&](const ir::Stage &St) {
      return Of.Stage < St.First + St.Count;
    });
    S.Chunk = Of.From.Chunk;
  }
  double Computing = Duration;
  for (const SeenCall &C : Seen.Calls)
    Computing -= timeOf(C.Duration).value_or(0);
  S.Durations.push_back(Duration);
  S.Computing.push_back(std::max(0.0, Computing));
}

/// Exchanges come in pairs, to the experts and back. The first one sends the
/// rows of the rank's own tokens, as many as ranks get on average.
void Calibration::takeExperts(const TraceRow &Of, const SeenRow &Seen) {
  const SeenCall *To = nullptr;
  for (size_t I = 0; I < Seen.Calls.size(); ++I) {
    const SeenCall &C = Seen.Calls[I];
    if (Of.Body->SubOperations[I].Comm != ir::OpKind::AllToAll)
      continue;
    if (!To) {
      To = &C;
      continue;
    }
    const auto Sent = readShape(To->Shape), Got = readShape(C.Shape);
    const auto Begin = timeOf(To->Timestamp), End = timeOf(C.Timestamp),
               Waited = timeOf(C.Duration);
    To = nullptr;
    if (!Sent || !Got || Sent->empty() || Got->empty() || Sent->front() <= 0 ||
        !Begin || !End || !Waited)
      continue;
    const double Load =
        static_cast<double>(Got->front()) / static_cast<double>(Sent->front());
    if (const double Time = *End - *Waited - *Begin; Time > LeastTime)
      Experts[{Of.Body->Kind == RowKind::BackwardStep, Load}].push_back(Time);
  }
}

std::vector<Calibration::ExpertTime> Calibration::expertTimes() const {
  std::vector<ExpertTime> Out;
  for (const auto &[Of, Times] : Experts)
    Out.push_back({Of.first, Of.second, median(Times)});
  return Out;
}

int64_t Calibration::members(const ir::ProcessGroup &G) const {
  // A message has two ends, however many stages there are.
  return G.Name == "pp" ? std::min<int64_t>(Sizes.groupSize(G), 2)
                        : Sizes.groupSize(G);
}

/// Ranks that do the same thing together must say so by the same numbers,
/// though each knows its own trace only.
Calibration::MeetingPlace Calibration::placeOf(const TraceRow &Of,
                                               const ir::ProcessGroup &G,
                                               int64_t Call) const {
  const auto Group = static_cast<size_t>(&G - ir::allProcessGroups().begin());
  const auto Iteration = static_cast<int64_t>((Taken - 1) / Planned->size());
  const int64_t First = G.Group.ranks(Map, Rank).front();
  // Stages don't log the same rows: what both call a message tells it.
  if (auto M = ir::messageOf(P.Schedule, Of.Stage, Of.From))
    return {Group, First, Iteration, M->MicroBatch * 2 + (M->IsForward ? 0 : 1),
            M->Part};
  // The first and the last stage meet once an iteration, in rows whose numbers
  // differ.
  if (G.Group.Members != ir::GroupMembers::All)
    return {Group, First, Iteration, 0, 0};
  const auto Index = static_cast<int64_t>((Taken - 1) % Planned->size());
  return {Group, First, Iteration, Index, Call};
}

void Calibration::meet(const TraceRow &Of, const TraceMessage &M,
                       double Duration, int64_t Call) {
  meet(Of, *M.Ranks, M.Comm, Sizes.wireBytes(M), Duration, Call);
}

/// The shortest duration is that of the last rank to arrive, which waited for
/// no other. Routers send different ranks different amounts; the largest one
/// decides the time.
void Calibration::meet(const TraceRow &Of, const ir::ProcessGroup &G,
                       std::optional<ir::OpKind> Comm, double WireBytes,
                       double Duration, int64_t Call) {
  auto [It, IsNew] = Meetings.try_emplace(placeOf(Of, G, Call));
  Meeting &M = It->second;
  M.Least = IsNew ? Duration : std::min(M.Least, Duration);
  M.WireBytes = std::max(M.WireBytes, WireBytes);
  M.AllWireBytes += WireBytes;
  if (Call < 0 && Of.Body->reduces())
    M.Elements = static_cast<double>(Of.Body->Gradients.value());
  if (IsNew)
    M.Comm = Comm;
  ++M.Come;
}

/// Skips calls without the trace of a member: the last to arrive is unknown.
void Calibration::forEachMeeting(
    llvm::function_ref<void(const ir::ProcessGroup &, const Meeting &)> Visit)
    const {
  for (const auto &[At, M] : Meetings) {
    const ir::ProcessGroup &G = ir::allProcessGroups()[std::get<0>(At)];
    if (M.Come == members(G))
      Visit(G, M);
  }
}

void foretrace::runs::writeProfile(const ir::CostSpec &C,
                                   llvm::StringRef Comment,
                                   llvm::raw_ostream &OS) {
  OS << "# " << Comment << "\n";
  // Tables of the table follow it.
  llvm::StringRef Table = "";
  OS << "[times] # us\n";
  for (const ir::ProfileTime &T : C.Profile) {
    auto [Prefix, Name] = llvm::StringRef(T.Section).rsplit('.');
    if (Name.empty())
      std::swap(Prefix, Name);
    if (Prefix != Table) {
      Table = Prefix;
      OS << "\n[times." << Table << "]\n";
    }
    OS << Name << " = " << llvm::format("%.3f", T.Microseconds) << "\n";
  }
  for (const ir::LinkSpec &L : C.Links)
    OS << "\n[links." << getName(L.Axis) << "]\nlatency = " << *L.Latency
       << " # ns\nbandwidth = " << *L.Bandwidth
       << (*L.Bandwidth == EndlessBandwidth
               ? " # B/s: times did not grow with size\n"
               : " # B/s\n");
}
