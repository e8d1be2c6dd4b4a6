// SPDX-License-Identifier: Apache-2.0
#include "tools/runs/Calibration.h"
#include "ir/model/OpKinds.h"
#include "tools/runs/Fit.h"
#include "tools/runs/Profile.h"
#include "llvm/ADT/STLExtras.h"
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

/// Of a trace, in ns; nothing for `None`.
static std::optional<double> timeOf(StringRef Text) {
  std::optional<double> Milliseconds = readNumber(Text);
  if (!Milliseconds)
    return std::nullopt;
  return *Milliseconds * 1e6;
}

/// A timestamp is of the end of a row. What lies between the end of one and the
/// start of the next is the host's; a fused row has no start of its own. Clocks
/// tell 10 us, so that a row may seem to start before the last one ended.
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
  // What a combined call takes is not known of its parts.
  const bool IsCombined =
      Of.From.isFused() ||
      (Index + 1 < Planned->size() && (*Planned)[Index + 1].From.isFused());
  takeMessages(Of, Seen, *Duration, IsCombined);
}

/// What a call was seen to move: as many rows as the router sent.
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

/// The least duration is that of who came last and waited for nobody. Routers
/// send different ranks different amounts; the most of them decides how long it
/// takes.
void Calibration::meet(const TraceRow &Of, const ir::ProcessGroup &G,
                       std::optional<ir::OpKind> Comm, double WireBytes,
                       double Duration, int64_t Call) {
  auto [It, IsNew] = Meetings.try_emplace(placeOf(Of, G, Call));
  Meeting &M = It->second;
  M.Least = IsNew ? Duration : std::min(M.Least, Duration);
  M.WireBytes = std::max(M.WireBytes, WireBytes);
  if (Call < 0 && Of.Body->reduces())
    M.Elements = static_cast<double>(Of.Body->Gradients.value());
  if (IsNew)
    M.Comm = Comm;
  ++M.Come;
}

/// Where the trace of a member is missing, nobody can say who came last.
void Calibration::forEachMeeting(
    llvm::function_ref<void(const ir::ProcessGroup &, const Meeting &)> Visit)
    const {
  for (const auto &[At, M] : Meetings) {
    const ir::ProcessGroup &G = ir::allProcessGroups()[std::get<0>(At)];
    if (M.Come == members(G))
      Visit(G, M);
  }
}

/// Gradients are scaled before they are reduced, even if nobody else has any.
double Calibration::gradientScaling() const {
  std::vector<double> PerElement;
  forEachMeeting([&](const ir::ProcessGroup &G, const Meeting &M) {
    if (M.Elements > 0 && members(G) == 1)
      PerElement.push_back(M.Least / M.Elements);
  });
  return median(std::move(PerElement));
}

/// A link's latency and bandwidth are the start and the slope of time over
/// bytes. The median of each size goes in, so that sizes weigh alike however
/// often they were sent. What scaling gradients takes is not the link's.
void Calibration::fitLinks(ir::CostSpec &Out, double Scaling) const {
  // By axis, the times of each size.
  std::map<ir::Axis, std::map<double, std::vector<double>>> Times;
  forEachMeeting([&](const ir::ProcessGroup &G, const Meeting &M) {
    if (members(G) > 1)
      Times[Timing::linkOf(G)][M.WireBytes].push_back(
          std::max(0.0, M.Least - Scaling * M.Elements));
  });
  for (const auto &[A, Sizes] : Times) {
    std::vector<Point> Points;
    for (const auto &[X, Y] : Sizes)
      Points.push_back({X, median(Y)});
    const FittedLine L = fitLine(Points);
    ir::LinkSpec &Link = Out.Links.emplace_back();
    Link.Axis = A;
    // To 100 ns: traces tell times to 10 us.
    const double Latency =
        std::min(L.Start, static_cast<double>(Timing::MaxTime));
    Link.Latency.state(std::llround(Latency / 100) * 100, {});
    constexpr auto Endless = static_cast<double>(EndlessBandwidth);
    Link.Bandwidth.state(
        std::max<int64_t>(1, std::llround(std::min(Endless, 1e9 / L.Slope))),
        {});
  }
}

/// A step of a stage takes its layers' times: one equation for each kind of
/// stage and chunk, with the times of blocks as unknowns. What its messages
/// take is known by then. Medians, since first iterations are outliers.
std::vector<Calibration::Equation>
Calibration::equations(const Timing &Links, bool IsBackward) const {
  std::vector<Equation> Out;
  for (const auto &[Body, S] : Steps) {
    if (Body->Kind !=
        (IsBackward ? RowKind::BackwardStep : RowKind::ForwardStep))
      continue;
    Equation E;
    for (const ir::LayerGroup &G : S.Stage->layersOf(S.Chunk))
      for (const ir::BlockRun &R : G.Runs)
        E.Layers[R.Block.Index] += static_cast<double>(G.Periods * R.Count);
    E.Time = std::max(0.0, median(S.Durations) -
                               static_cast<double>(Links.within(*Body)));
    Out.push_back(std::move(E));
  }
  return Out;
}

/// Blocks that occur, those with the most layers first: what cannot be told
/// apart is theirs.
static std::vector<unsigned>
blocksOf(llvm::ArrayRef<std::map<unsigned, double>> Rows) {
  std::map<unsigned, double> Counts;
  for (const auto &Layers : Rows)
    for (auto [Block, Count] : Layers)
      Counts[Block] += Count;
  std::vector<unsigned> Blocks;
  for (auto [Block, Count] : Counts)
    Blocks.push_back(Block);
  llvm::stable_sort(
      Blocks, [&](unsigned A, unsigned B) { return Counts[A] > Counts[B]; });
  return Blocks;
}

/// A row for each equation, a column for each block.
static std::vector<std::vector<double>>
matrixOf(llvm::ArrayRef<std::map<unsigned, double>> Rows,
         llvm::ArrayRef<unsigned> Blocks) {
  std::vector<std::vector<double>> A;
  for (const auto &Layers : Rows) {
    std::vector<double> &Row = A.emplace_back();
    for (unsigned Block : Blocks) {
      auto It = Layers.find(Block);
      Row.push_back(It == Layers.end() ? 0 : It->second);
    }
  }
  return A;
}

/// No profile holds more; nothing takes that long.
static double bounded(double Microseconds) {
  return std::min(Microseconds, ir::ProfileTime::MaxMicroseconds);
}

/// Nothing takes less than no time: without that bound noise would make one
/// block pay for another.
void Calibration::fitBlocks(ir::CostSpec &Out, const Timing &Links,
                            bool IsBackward) const {
  std::vector<std::map<unsigned, double>> Rows;
  std::vector<double> Times;
  for (Equation &E : equations(Links, IsBackward)) {
    Rows.push_back(std::move(E.Layers));
    Times.push_back(E.Time);
  }
  const std::vector<unsigned> Blocks = blocksOf(Rows);
  const std::vector<double> Solved =
      solveNonNegative(matrixOf(Rows, Blocks), Times);
  for (size_t I = 0; I < Blocks.size(); ++I)
    Out.Profile.push_back({(IsBackward ? "backward." : "forward.") +
                               P.Blocks[P.Blocks.idAt(Blocks[I])].Name,
                           bounded(Solved[I] / 1000),
                           {}});
}

/// Forward alone tells: backward steps have the same layers.
bool Calibration::isUnderdetermined() const {
  std::vector<std::map<unsigned, double>> Rows;
  for (Equation &E : equations(Sizes, /*IsBackward=*/false))
    Rows.push_back(std::move(E.Layers));
  const std::vector<unsigned> Blocks = blocksOf(Rows);
  return rankOf(matrixOf(Rows, Blocks)) < Blocks.size();
}

/// Of the iteration in which it waited least.
double Calibration::timePerParameter(const RowBody &Optimizer,
                                     const Timing &Links) const {
  const MeasuredBody &S = Steps.find(&Optimizer)->second;
  const double Updating = *llvm::min_element(S.Durations) -
                          static_cast<double>(Links.within(Optimizer));
  return std::max(0.0, Updating) /
         static_cast<double>(Sizes.parameters(*S.Stage));
}

/// A rank that comes early waits for the gradient norm of the others; the stage
/// that came last did not.
const RowBody *Calibration::lastOptimizer(const Timing &Links) const {
  const RowBody *Last = nullptr;
  for (const auto &[Body, S] : Steps)
    if (Body->Kind == RowKind::OptimizerStep &&
        Sizes.parameters(*S.Stage) > 0 &&
        (!Last ||
         timePerParameter(*Body, Links) < timePerParameter(*Last, Links)))
      Last = Body;
  return Last;
}

/// Each fit needs those before it: links less the scaling of gradients, then
/// computing less the links.
ir::CostSpec Calibration::fit() const {
  ir::CostSpec Out;
  Out.Kind.state(ir::CostKind::Calibrated, {});
  auto AddTime = [&](StringRef Name, double Nanoseconds) {
    if (Nanoseconds > 0)
      Out.Profile.push_back({Name.str(), bounded(Nanoseconds / 1000), {}});
  };
  AddTime("host_gap", median(Gaps));
  for (RowKind Kind : {RowKind::GetBatch, RowKind::LossFunc}) {
    std::vector<double> Computing;
    for (const auto &[Body, S] : Steps)
      if (Body->Kind == Kind)
        Computing.insert(Computing.end(), S.Computing.begin(),
                         S.Computing.end());
    AddTime(getName(Kind), median(std::move(Computing)));
  }
  const double Scaling = gradientScaling();
  AddTime("gradients", Scaling * Timing::Million);
  fitLinks(Out, Scaling);
  ir::Program WithLinks = P;
  WithLinks.Spec.Cost = Out;
  const Timing Links(WithLinks);
  // An update is bound by memory: its time goes with a rank's parameters.
  if (const RowBody *Last = lastOptimizer(Links))
    AddTime("optimizer", timePerParameter(*Last, Links) * Timing::Million);
  fitBlocks(Out, Links, /*IsBackward=*/false);
  fitBlocks(Out, Links, /*IsBackward=*/true);
  return Out;
}

std::vector<Calibration::Family>
Calibration::errors(const ir::Program &Fitted) const {
  const Timing Times(Fitted);
  std::map<std::string, std::vector<double>> Errors;
  auto Add = [&](const std::string &Family, double Estimate, double Measured) {
    if (Measured >= LeastTime)
      Errors[Family].push_back(std::abs(Estimate - Measured) / Measured);
  };
  for (const auto &[Body, S] : Steps) {
    if (Body->Group && Body->Kind != RowKind::GetBatch)
      continue; // a message
    if (Body->Kind == RowKind::OptimizerStep && Body != lastOptimizer(Times))
      continue; // waits
    const auto Estimate =
        static_cast<double>(Times.total(*Body, *S.Stage, S.Chunk));
    for (double Duration : S.Durations)
      Add(getName(Body->Kind).str(), Estimate, Duration);
  }
  const ir::ProfileTime *Scaling = Fitted.Spec.Cost.findTime("gradients");
  forEachMeeting([&](const ir::ProcessGroup &G, const Meeting &M) {
    const ir::LinkSpec *L = Fitted.Spec.Cost.findLink(Timing::linkOf(G));
    double Estimate =
        Scaling ? Scaling->Microseconds * 1000 * M.Elements / Timing::Million
                : 0;
    if (L && members(G) > 1)
      Estimate += static_cast<double>(*L->Latency) +
                  M.WireBytes * 1e9 / static_cast<double>(*L->Bandwidth);
    const StringRef Name = M.Comm ? commName(*M.Comm) : "send";
    Add((Name + " " + G.Name).str(), Estimate, M.Least);
  });
  std::vector<Family> Out;
  for (auto &[Name, Of] : Errors)
    Out.push_back({Name, Of.size(), median(std::move(Of))});
  return Out;
}
