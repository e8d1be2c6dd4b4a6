// SPDX-License-Identifier: Apache-2.0
#include "ir/model/Spec.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/ErrorHandling.h"
#include <cmath>
#include <numeric>

namespace foretrace::ir {

Spec::Spec() = default;
Spec::Spec(const Spec &) = default;
Spec::Spec(Spec &&) noexcept = default;
Spec &Spec::operator=(const Spec &) = default;
Spec &Spec::operator=(Spec &&) noexcept = default;
Spec::~Spec() = default;

std::optional<std::vector<int64_t>>
DraftSpec::acceptances(llvm::StringRef Text) {
  constexpr int64_t One = 1'000'000;
  std::vector<int64_t> All;
  while (!Text.empty()) {
    const auto [Number, Rest] = Text.split(' ');
    Text = Rest;
    int64_t Of;
    if (Number.getAsInteger(10, Of) || Of < 1 || Of > One)
      return std::nullopt;
    All.push_back(Of);
  }
  return All;
}

const Located<FlopRate> &DeviceSpec::peakFor(PrecisionKind P) const {
  if (PeakFlops.isPresent())
    return PeakFlops;
  switch (P) {
  case PrecisionKind::BF16:
  case PrecisionKind::FP16:
    return PeakBf16;
  case PrecisionKind::FP32:
    return PeakFp32;
  }
  llvm_unreachable("covered switch");
}

const DeviceSpec::Peak &DeviceSpec::peakOf(TypeKind T) {
  static constexpr Peak Plain = {&DeviceSpec::PeakFlops, "peak_flops",
                                 "989 TFLOP/s"};
  static constexpr Peak InFp8 = {&DeviceSpec::PeakFp8, "peak_fp8",
                                 "1979 TFLOP/s"};
  static constexpr Peak InFp4 = {&DeviceSpec::PeakFp4, "peak_fp4", "9 PFLOP/s"};
  switch (T) {
  case TypeKind::BF16:
  case TypeKind::FP16:
  case TypeKind::FP32:
  case TypeKind::INT8:
  case TypeKind::INT4:
    return Plain;
  case TypeKind::FP8:
  case TypeKind::FP8Block:
  case TypeKind::MXFP8:
    return InFp8;
  case TypeKind::MXFP4:
  case TypeKind::NVFP4:
    return InFp4;
  }
  llvm_unreachable("covered switch");
}

DeviceSpec Spec::rooflineDevice() const {
  DeviceSpec Device;
  auto Take = [&](const DeviceSpec &From) {
    const Located<FlopRate> &Peak = From.peakFor(*Train.Precision);
    if (!Device.PeakFlops.isPresent())
      Device.PeakFlops = Peak;
    for (Located<int64_t> DeviceSpec::*Member :
         {&DeviceSpec::MemoryBandwidth, &DeviceSpec::PeakFp8,
          &DeviceSpec::PeakFp4})
      if (!(Device.*Member).isPresent())
        Device.*Member = From.*Member;
  };
  Take(Cost.Device);
  if (Cluster)
    Take(Cluster->Device);
  return Device;
}

Nanoseconds ProfileTime::nanoseconds(double Count, double Per) const {
  const double Time = Microseconds * Count / Per * 1000;
  return Time < 0x1p63 ? Nanoseconds(std::llrint(Time))
                       : Nanoseconds::overflow();
}

const ProfileTime *CostSpec::findTime(llvm::StringRef Name) const {
  for (const ProfileTime &T : Profile)
    if (T.Section == Name)
      return &T;
  return nullptr;
}

llvm::ArrayRef<KernelParameterInfo> kernelParameters() {
  static constexpr std::nullopt_t Required = std::nullopt;
  static constexpr KernelParameterInfo Rows[] = {
#define KERNEL_PARAMETER(ENUMERATOR, NAME, LEAST, MOST, DEFAULT, DOC)          \
  {NAME, LEAST, MOST, DEFAULT, DOC},
#include "ir/model/KernelParameters.def"
  };
  return Rows;
}

const KernelParameterInfo &getInfo(KernelParameterId Id) {
  return kernelParameters()[static_cast<size_t>(Id)];
}

std::optional<KernelParameterId> findKernelParameter(llvm::StringRef Name) {
  const llvm::ArrayRef<KernelParameterInfo> Rows = kernelParameters();
  const auto *Row =
      llvm::find_if(Rows, [&](const auto &R) { return R.Name == Name; });
  if (Row == Rows.end())
    return std::nullopt;
  return static_cast<KernelParameterId>(Row - Rows.begin());
}

std::optional<double> CostSpec::kernel(KernelParameterId Id) const {
  for (const KernelParameter &K : Kernels)
    if (K.Id == Id)
      return K.Value;
  return getInfo(Id).Default;
}

const LinkSpec *CostSpec::findLink(ir::Axis A) const {
  for (const LinkSpec &L : Links)
    if (L.Axis == A)
      return &L;
  return nullptr;
}

std::string CostSpec::describeDurations() const {
  switch (*Kind) {
  case CostKind::Estimate:
    return "estimates: `cost estimate`, profile `" + *DeviceProfile + "`";
  case CostKind::Roofline:
    return "lower bounds: `cost roofline`";
  case CostKind::Uncosted:
  case CostKind::Profile:
  case CostKind::Calibrated:
    return "";
  }
  llvm_unreachable("no such kind");
}

int64_t ModelSpec::layerCount() const {
  int64_t N = 0;
  for (const LayerRun &R : Layers)
    for (const LayerRun::Item &I : R.Items)
      N += R.Periods * I.Count;
  return N;
}

/// A node can be larger than the innermost tier. A flat network has no tiers.
int64_t ClusterSpec::domainSize() const {
  return Tiers.size() > 1 ? std::max(*Tiers.front().Devices, *DevicesPerNode)
                          : *DevicesPerNode;
}

const Located<int64_t> *routedExperts(const BlockSpec &B) {
  for (const LayerUse *Use : {&B.Network, &B.Mixer}) {
    const auto *Experts = Use->find<int64_t>("experts");
    const auto *Capacity = Use->find<int64_t>("capacity_percent");
    const bool IsOfLibrary = Use->Is && !Use->Is->Range.isValid();
    const bool HasCapacity =
        Capacity && Capacity->isPresent() && **Capacity > 0;
    if (IsOfLibrary && Experts && Experts->isPresent() && !HasCapacity)
      return Experts;
  }
  return nullptr;
}

bool BlockSpec::isOfTower() const {
  return llvm::any_of(
      llvm::ArrayRef{&Mixer, &Network},
      [](const LayerUse *Use) { return Use->Is && Use->Is->isTower(); });
}

int64_t ModelSpec::towerLayers() const {
  auto IsTower = [&](const LayerRun::Item &I) {
    return Blocks[I.Block].isOfTower();
  };
  int64_t N = 0;
  for (const LayerRun &R : Layers) {
    const auto Text = llvm::find_if_not(R.Items, IsTower);
    if (Text == R.Items.end()) {
      for (const LayerRun::Item &I : R.Items)
        N += R.Periods * I.Count;
      continue;
    }
    for (auto It = R.Items.begin(); It != Text; ++It)
      N += It->Count;
    return N;
  }
  return 0;
}

bool BranchSpec::isWithin(int64_t Depths) const {
  int64_t Sum = 0;
  for (const LayerRun &R : Layers)
    for (const LayerRun::Item &I : R.Items) {
      if (std::max({R.Periods, I.Count, Depths}) > MaxLayers)
        return false;
      Sum += R.Periods * I.Count * Depths;
    }
  return Sum <= MaxLayers;
}

const BlockSpec *ModelSpec::findBlock(llvm::StringRef Of) const {
  for (const BlockSpec &B : Blocks)
    if (B.Name == Of)
      return &B;
  return nullptr;
}

std::vector<unsigned> ModelSpec::blocksInOrder() const {
  std::vector<unsigned> Order(Blocks.size());
  std::iota(Order.begin(), Order.end(), 0);
  const bool ArePassed = llvm::any_of(Blocks, [](const BlockSpec &B) {
    return !B.Mixer.reads().empty() || !B.Network.reads().empty();
  });
  if (!ArePassed)
    return Order;
  llvm::SetVector<unsigned> ByUse;
  for (const LayerRun &R : Layers)
    for (const LayerRun::Item &I : R.Items)
      ByUse.insert(I.Block);
  ByUse.insert(Order.begin(), Order.end());
  return {ByUse.begin(), ByUse.end()};
}

std::vector<TypeKind> Spec::computeTypes() const {
  llvm::SmallSetVector<TypeKind, 2> Types;
  Types.insert(*Train.ComputePrecision);
  for (const BlockSpec &B : Model.Blocks)
    if (B.ComputePrecision.isPresent())
      Types.insert(*B.ComputePrecision);
  return {Types.begin(), Types.end()};
}

TypeKind Spec::computeTypeOf(const BlockSpec &B) const {
  return B.ComputePrecision.isPresent() ? *B.ComputePrecision
                                        : *Train.ComputePrecision;
}

/// Megatron-LM recomputes the layers of a branch since core 0.14, and not with
/// a number of layers of each chunk (transformer/multi_token_prediction.py,
/// _checkpointed_forward).
static bool recomputesBranch(const Spec &S) {
  return *S.Parallel.Megatron >= MegatronVersion::V0_14 &&
         !S.Train.RecomputeNumLayers.isPresent();
}

const Located<RecomputeKind> &Spec::recomputeOf(const BlockSpec &B) const {
  static const auto None = [] {
    Located<RecomputeKind> Is;
    Is.setDefault(RecomputeKind::None);
    return Is;
  }();
  const Located<RecomputeKind> &Is =
      B.Recompute.isPresent() ? B.Recompute : Train.Recompute;
  const bool IsOfBranch =
      Model.Branch && &Model.Blocks[Model.Branch->Block] == &B;
  if (IsOfBranch && *Is == RecomputeKind::Full && !recomputesBranch(*this))
    return None;
  return Is;
}

const Located<Bool> &Spec::offloadOf(const BlockSpec &B) const {
  return B.OffloadActivations.isPresent() ? B.OffloadActivations
                                          : Train.OffloadActivations;
}

EmitSpec EmitSpec::plain(llvm::StringRef Backend) {
  EmitSpec Plain;
  Plain.Backend = Backend.str();
  Plain.Options.K = Attribute::Kind::Section;
  return Plain;
}

void EmitSpec::set(llvm::StringRef Name, Attribute New) {
  for (NamedAttribute &Old : Options.Fields)
    if (Old.Name == Name) {
      Old.Value = std::move(New);
      return;
    }
  Options.Fields.push_back({Name.str(), {}, std::move(New)});
}

void EmitSpec::set(llvm::StringRef Name, Attribute::Kind K,
                   llvm::StringRef Text) {
  Attribute New;
  New.K = K;
  New.Text = Text.str();
  set(Name, std::move(New));
}

void EmitSpec::setFlag(llvm::StringRef Name) {
  Attribute New;
  New.K = Attribute::Kind::Bool;
  New.Integer = 1;
  set(Name, std::move(New));
}

} // namespace foretrace::ir
