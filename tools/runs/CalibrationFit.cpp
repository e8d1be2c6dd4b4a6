// SPDX-License-Identifier: Apache-2.0
//
// What follows from the durations that a Calibration has gathered.
#include "ir/model/OpKinds.h"
#include "tools/runs/Calibration.h"
#include "tools/runs/Fit.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>

using namespace foretrace;
using namespace foretrace::megatron;
using namespace foretrace::runs;
using llvm::StringRef;

/// Gradients are scaled before they are reduced, even over a single rank.
double Calibration::gradientScaling() const {
  std::vector<double> PerElement;
  forEachMeeting([&](const ir::ProcessGroup &G, const Meeting &M) {
    if (M.Elements > 0 && members(G) == 1)
      PerElement.push_back(M.Least / M.Elements);
  });
  return median(std::move(PerElement));
}

double Calibration::hostGap() const { return median(Gaps); }

std::vector<Calibration::StepTime> Calibration::steps() const {
  std::vector<StepTime> Out;
  for (const auto &[Body, S] : Steps)
    if (!Body->Group || Body->Kind == RowKind::GetBatch)
      Out.push_back({S.Stage, S.Chunk, Body->Kind, median(S.Durations)});
  return Out;
}

/// All ranks send as many rows as their tokens need; what they get differs.
double Calibration::expertLoad() const {
  std::vector<double> Loads;
  forEachMeeting([&](const ir::ProcessGroup &G, const Meeting &M) {
    const double Load = M.WireBytes * static_cast<double>(members(G));
    if (M.Comm == ir::OpKind::AllToAll && Load > M.AllWireBytes)
      Loads.push_back(Load / M.AllWireBytes);
  });
  return Loads.empty() ? 1 : median(std::move(Loads));
}

/// A link's latency and bandwidth are the start and the slope of time over
/// bytes. The median of each size is used, so that sizes have equal weights
/// however often they were sent. The time to scale gradients is not the link's.
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
/// stage and chunk, with the times of blocks as unknowns. The times of its
/// messages are known by then. Medians, since first iterations are outliers.
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

/// Returns at most what a profile can hold; no op takes that long.
static double bounded(double Microseconds) {
  return std::min(Microseconds, ir::ProfileTime::MaxMicroseconds);
}

/// Fits times that are not negative: noise would otherwise give one block a
/// negative time and add it to another.
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

/// Forward steps suffice: backward steps have the same layers.
bool Calibration::isUnderdetermined() const {
  std::vector<std::map<unsigned, double>> Rows;
  for (Equation &E : equations(Sizes, /*IsBackward=*/false))
    Rows.push_back(std::move(E.Layers));
  const std::vector<unsigned> Blocks = blocksOf(Rows);
  return rankOf(matrixOf(Rows, Blocks)) < Blocks.size();
}

/// Uses the iteration in which the rank waited least.
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

/// Each fit uses the previous ones: links less the scaling of gradients, then
/// computing less the links.
ir::CostSpec Calibration::fit() const {
  ir::CostSpec Out;
  Out.Kind.state(ir::CostKind::Calibrated, {});
  auto AddTime = [&](StringRef Name, double Nanoseconds) {
    if (Nanoseconds > 0)
      Out.Profile.push_back({Name.str(), bounded(Nanoseconds / 1000), {}});
  };
  AddTime("host_gap", hostGap());
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
