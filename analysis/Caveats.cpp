// SPDX-License-Identifier: Apache-2.0
#include "analysis/Caveats.h"
#include "analysis/CollectiveTimes.h"
#include "analysis/LayerCounts.h"
#include "analysis/Liveness.h"
#include "analysis/Work.h"
#include "ir/model/KnownDevice.h"
#include "ir/model/OpKinds.h"
#include "ir/model/Spellings.h"
#include "lang/NumberText.h"
#include "lang/diagnostics/Passes.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"
#include <cmath>

using namespace foretrace;
using namespace foretrace::ir;

using Number = KernelParameterId;

namespace {

/// A warning, and by how much it widens the half range.
struct Caveat {
  SourceRange At;
  diag::Id Id;
  DiagnosticArguments Arguments;
  double Share = 0; ///< of the iteration
  double Time = 0;  ///< in ns, of what is not modelled
};

/// Finds the caveats of one job.
class CaveatFinder {
public:
  explicit CaveatFinder(const Program &P)
      : P(P), S(P.Spec), Own(deviceOf(S)),
        Fitted(S.Cost.FittedOn.isPresent() ? findDevice(*S.Cost.FittedOn)
                                           : nullptr) {}

  std::vector<Caveat> run();

private:
  template <typename... Ts>
  void add(SourceRange At, diag::Id Id, double Share, double Time,
           const Ts &...Args) {
    Caveat C{At, Id, {}, Share, Time};
    (addArgument(C.Arguments, Args), ...);
    Found.push_back(std::move(C));
  }
  void findOffload();
  void findOverlap();
  void findTier();
  void findBorrowed();
  void findStack();
  void findScale();

  const Program &P;
  const Spec &S;
  const KnownDevice *const Own, *const Fitted;
  std::vector<Caveat> Found;
};

} // namespace

/// Returns the sum of \p Of over all ops of an iteration of a rank, of the
/// stage where it is largest.
static double mostOfStages(const Program &P,
                           llvm::function_ref<double(const Op &)> Of) {
  auto SumOf = [&](const Block &B) {
    double Sum = 0;
    for (const Op &O : B.Ops)
      Sum += Of(O);
    return Sum;
  };
  double Most = 0;
  for (const Stage &At : P.Stages) {
    double Sum = SumOf(P.Blocks[At.Step]);
    for (const auto &[Index, Layers] : layersByBlock(At))
      Sum += SumOf(P.Blocks[BlockId(Index)]) * static_cast<double>(Layers) *
             static_cast<double>(P.Schedule.microBatchesOfChunk());
    Most = std::max(Most, Sum);
  }
  return Most;
}

static double exposedTime(const Op &O) {
  const Nanoseconds Time = O.exposed();
  return Time.isOverflow() ? 0 : static_cast<double>(Time.value());
}

static std::string percent(double Share) {
  std::string Text;
  llvm::raw_string_ostream(Text) << llvm::format("%.0f", 100 * Share);
  return Text;
}

static std::string printRate(double GigabytesPerSecond) {
  std::string Text;
  llvm::raw_string_ostream(Text) << llvm::format("%g GB/s", GigabytesPerSecond);
  return Text;
}

static std::string printTime(double Nanoseconds) {
  return printScaled(Nanoseconds, timeScales());
}

bool foretrace::isUpdatedByHost(const Program &P) {
  return P.Spec.Train.OffloadOptimizer.is(true);
}

/// Activations go to the host and back; of parameters, gradients go there and
/// weights come back.
std::optional<int64_t> foretrace::hostTraffic(const Program &Of) {
  ExprOverlay P(Of);
  std::optional<int64_t> Most = 0;
  for (const Stage &At : Of.Stages) {
    llvm::SmallVector<ExprId, 8> Sizes;
    for (const auto &[Index, Layers] : layersByBlock(At))
      if (const Block &B = Of.Blocks[BlockId(Index)]; isOffloaded(Of, B))
        Sizes.push_back(
            numberOf(P, 2 * Layers * Of.Schedule.microBatchesOfChunk()) *
            Liveness(P, B).kept());
    const Block &Step = Of.Blocks[At.Step];
    for (const Op &O : Step.Ops)
      if (O.Kind == OpKind::Optimizer && isUpdatedByHost(Of))
        for (const Value *V : valuesOf(Step, O))
          Sizes.push_back(bytesOnRank(P, *V));
    const Expr Sum = sumOf(P, Sizes);
    if (!Sum.hasValue())
      return std::nullopt;
    Most = std::max(*Most, Sum.value());
  }
  return Most;
}

/// Returns the rate of the link to the host in GB/s: that of PCIe 4 if the
/// device is unknown.
static double hostRate(const Spec &S) {
  const KnownDevice *Own = deviceOf(S);
  constexpr double Pcie4 = 32;
  return Own ? Own->Host : Pcie4;
}

std::string foretrace::describeHostTraffic(const Program &P) {
  const std::optional<int64_t> Size = hostTraffic(P);
  if (!Size)
    return "more than 2^63 bytes of a rank cross the link to the host in an "
           "iteration";
  const double Rate = hostRate(P.Spec);
  std::string Text;
  llvm::raw_string_ostream(Text)
      << printBytes(static_cast<double>(*Size))
      << " of a rank cross the link to the host in an iteration, at least "
      << printTime(static_cast<double>(*Size) / Rate) << " at "
      << printRate(Rate);
  return Text;
}

void CaveatFinder::findOffload() {
  const bool IsOfLayers =
      llvm::any_of(P.Blocks, [&](const Block &B) { return isOffloaded(P, B); });
  if (!IsOfLayers && !isUpdatedByHost(P))
    return;
  const Located<Bool> &Key = isUpdatedByHost(P) ? S.Train.OffloadOptimizer
                                                : S.Train.OffloadActivations;
  add(Key.Range, diag::EstimateOffload, 0,
      static_cast<double>(hostTraffic(P).value_or(INT64_MAX)) / hostRate(S),
      isUpdatedByHost(P) ? "offload_optimizer" : "offload_activations",
      describeHostTraffic(P));
}

void CaveatFinder::findOverlap() {
  const ParallelSpec &Par = S.Parallel;
  const bool IsDualPipe = Par.Schedule.is(ScheduleKind::DualPipe) ||
                          Par.Schedule.is(ScheduleKind::DualPipeV);
  if (IsDualPipe && *Par.Ep > 1) {
    const double Time = mostOfStages(P, [](const Op &O) {
      return O.Kind == OpKind::AllToAll && O.Group.spans(Axis::Ep)
                 ? exposedTime(O)
                 : 0;
    });
    if (Time > 0)
      add(Par.Schedule.Range, diag::EstimateOverlap, 0, Time,
          "the exchanges of experts, which `schedule = " +
              getSpelling(*Par.Schedule).str() +
              "` overlaps with the other direction",
          printTime(Time));
  }
  if (!Par.isHybrid() || *Par.Zero == 0)
    return;
  const double Time = mostOfStages(P, [](const Op &O) {
    return O.Kind == OpKind::AllReduce && O.Group.spans(Axis::DpReplicate)
               ? exposedTime(O)
               : 0;
  });
  if (Time > 0)
    add(Par.DpShard.Range, diag::EstimateOverlap, 0, Time,
        "the all-reduce over groups of `dp_shard` replicas, which PyTorch "
        "overlaps with the backward pass (`overlap_grad_reduce` has no effect "
        "on it)",
        printTime(Time));
}

/// Collectives within a domain have the rates of the profile. Of those that are
/// not the cluster's, the time that depends on them is in doubt.
void CaveatFinder::findTier() {
  if (!S.Cluster || !Fitted)
    return;
  const TierSpec &T = S.Cluster->Tiers.front();
  constexpr int64_t NvLinkLatency = 600; // NCCL 2.x, tuning.cc, hwLat
  const double Rate = static_cast<double>(*T.Bandwidth) / 1e9;
  const double Slower = std::abs(Fitted->Link / Rate - 1);
  const auto Later = static_cast<double>(*T.Latency - NvLinkLatency);
  CollectiveTimes Links(P);
  auto sumWithin = [&](llvm::function_ref<double(const Op &, double)> Of) {
    return mostOfStages(P, [&](const Op &O) {
      if (!isCollective(O.Kind) || O.Group.size(P.Mesh) < 2)
        return 0.0;
      const LinkPlace &At = Links.placeOf(O.Group);
      return At.isSpread() ? 0 : Of(O, At.Ranks);
    });
  };
  auto timeOf = [](const Op &O, double) {
    return O.Time.isOverflow() ? 0 : static_cast<double>(O.Time.value());
  };
  auto Add = [&](SourceRange At, llvm::StringRef Key, const std::string &Is,
                 const std::string &Was, double Time) {
    if (Time > 0)
      add(At, diag::TierWithoutEffect, 0, Time, Key, Is, T.Name, Was);
  };
  if (Slower >= 0.01)
    Add(T.Bandwidth.Range, "bandwidth", printRate(Rate),
        printRate(Fitted->Link), Slower * sumWithin(timeOf));
  if (*T.Topology != TopologyKind::Switch)
    Add(T.Topology.Range, "topology", getSpelling(*T.Topology).str(), "switch",
        sumWithin(timeOf));
  if (Later != 0)
    Add(T.Latency.Range, "latency", std::to_string(*T.Latency) + " ns",
        std::to_string(NvLinkLatency) + " ns",
        std::abs(Later) *
            sumWithin([](const Op &, double Ranks) { return Ranks - 1; }));
}

namespace {

/// The similarity of a job's device to the one that its profile was fitted on.
struct Kinship {
  llvm::StringLiteral Text;
  double HalfRange; ///< in addition, measured on about a hundred runs
};

} // namespace

/// Returns nothing if it is the same device. An unknown device counts as the
/// same if its peak rate is.
static std::optional<Kinship> kinshipOf(const Spec &S, const KnownDevice *Own,
                                        const KnownDevice *Fitted) {
  if (!Fitted || Own == Fitted)
    return std::nullopt;
  if (!Own) {
    const DeviceSpec &Device = S.Cluster ? S.Cluster->Device : S.Cost.Device;
    const bool IsAlike =
        !Device.PeakBf16.isPresent() ||
        std::abs(static_cast<double>(*Device.PeakBf16) / 1e12 / Fitted->Bf16 -
                 1) < 0.05;
    return IsAlike ? std::nullopt
                   : std::optional(Kinship{"an unknown device", 0.45});
  }
  if (Own->Vendor != Fitted->Vendor)
    return Kinship{"a device of another vendor", 0.45};
  if (Own->Die == Fitted->Die)
    return Kinship{"the same die with other memory or links", 0.08};
  if (Own->Architecture == Fitted->Architecture)
    return Kinship{"the same architecture", 0.2};
  if (std::abs(Own->Generation - Fitted->Generation) <= 1)
    return Kinship{"one generation apart", 0.25};
  return Kinship{"two generations apart", 0.45};
}

static std::optional<Kinship> kinshipOf(const Program &P) {
  const Spec &S = P.Spec;
  return S.Cost.FittedOn.isPresent()
             ? kinshipOf(S, deviceOf(S), findDevice(*S.Cost.FittedOn))
             : std::nullopt;
}

bool foretrace::borrowsProfile(const Program &P) {
  return kinshipOf(P).has_value();
}

static std::string describeDevice(const Spec &S) {
  const llvm::StringRef Name = deviceName(S);
  return Name.empty() ? "device" : Name.str();
}

void CaveatFinder::findBorrowed() {
  if (const std::optional<Kinship> Of = kinshipOf(S, Own, Fitted))
    add(S.Cost.DeviceProfile.Range, diag::BorrowedProfile, Of->HalfRange, 0,
        describeDevice(S), *S.Cost.DeviceProfile, *S.Cost.FittedOn, Of->Text,
        percent(Of->HalfRange));
}

bool foretrace::checkVendor(const Program &P, DiagnosticEngine &Diags) {
  const CostSpec &C = P.Spec.Cost;
  const KnownDevice *Own = deviceOf(P.Spec);
  const KnownDevice *Fitted =
      C.FittedOn.isPresent() ? findDevice(*C.FittedOn) : nullptr;
  if (!Own || !Fitted || Own->Vendor == Fitted->Vendor ||
      C.Borrow.is(BorrowKind::Any))
    return true;
  Diags.report(C.DeviceProfile.Range, diag::ProfileVendor,
               describeDevice(P.Spec), Own->Vendor, *C.DeviceProfile,
               *C.FittedOn, Fitted->Vendor);
  return false;
}

/// Profiles were fitted to runs of Megatron-LM. Their mean error on the 130
/// runs of other stacks that nothing was fitted to is 17 % (docs/time.md),
/// hence 2.06 times that for nine in ten of a normal distribution.
void CaveatFinder::findStack() {
  const ParallelSpec &Par = S.Parallel;
  const bool IsOfJob =
      llvm::any_of(S.Cost.Kernels, [&](const KernelParameter &K) {
        return K.Id == Number::SustainedBf16 &&
               K.Range.start() != S.Cost.DeviceProfile.Range.start();
      });
  if (*Par.Zero < 2 || Par.Megatron.isStated() || !Fitted || IsOfJob)
    return;
  constexpr double HalfRange = 0.35;
  add(Par.Zero.Range, diag::EstimateStack, HalfRange, 0, *Par.Zero,
      percent(HalfRange));
}

/// MegaScale, of which no row was fitted, is off by 10.5 % more with 12,288
/// devices than with 256, which are 5.6 doublings (docs/time.md).
void CaveatFinder::findScale() {
  const std::optional<double> Most = S.Cost.kernel(Number::FittedDevices);
  const auto World = static_cast<double>(*S.Parallel.World);
  if (!Most || World <= *Most)
    return;
  constexpr double OfDoubling = 0.02;
  const double HalfRange = OfDoubling * std::log2(World / *Most);
  std::string Percent;
  llvm::raw_string_ostream(Percent) << llvm::format("%.1f", 100 * HalfRange);
  add(S.Parallel.World.Range, diag::EstimateScale, HalfRange, 0,
      *S.Parallel.World, static_cast<int64_t>(*Most), Percent);
}

std::vector<Caveat> CaveatFinder::run() {
  findBorrowed();
  findStack();
  findScale();
  findTier();
  findOffload();
  findOverlap();
  return std::move(Found);
}

void foretrace::reportCaveats(const Program &P, DiagnosticEngine &Diags) {
  for (const Caveat &C : CaveatFinder(P).run())
    Diags.report(C.At, C.Id, C.Arguments);
}

double foretrace::halfRange(const Program &P, const IterationTime &T) {
  double Squares = T.Uncertainty * T.Uncertainty;
  const auto Total = static_cast<double>(T.Total.value());
  for (const Caveat &C : CaveatFinder(P).run()) {
    const double Half = C.Share + C.Time / Total;
    Squares += Half * Half;
  }
  return std::sqrt(Squares);
}
