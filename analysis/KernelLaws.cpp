// SPDX-License-Identifier: Apache-2.0
#include "analysis/KernelLaws.h"
#include "ir/model/Ops.h"
#include <cmath>

using namespace foretrace;
using namespace foretrace::ir;

using Number = KernelParameterId;
using std::exp2;
using std::log2;
using std::max;
using std::sqrt;

llvm::StringRef foretrace::getName(KernelClass C) {
  switch (C) {
  case KernelClass::Product:
    return "products";
  case KernelClass::GroupedProduct:
    return "products of experts";
  case KernelClass::Attention:
  case KernelClass::UnfusedAttention:
    return "attention";
  case KernelClass::Scan:
    return "scans";
  case KernelClass::Stream:
  case KernelClass::Embedding:
  case KernelClass::Fused:
    return "other kernels";
  case KernelClass::Optimizer:
    return "optimizer";
  }
  llvm_unreachable("every class is handled");
}

static constexpr std::pair<KernelClass, llvm::StringLiteral> Keywords[] = {
    {KernelClass::Product, "product"},
    {KernelClass::GroupedProduct, "grouped_product"},
    {KernelClass::Attention, "attention"},
    {KernelClass::Scan, "scan"},
    {KernelClass::Stream, "stream"},
    {KernelClass::Embedding, "embedding"},
    {KernelClass::Optimizer, "optimizer"}};

llvm::StringRef foretrace::getKeyword(KernelClass C) {
  for (const auto &[Class, Keyword] : Keywords)
    if (Class == C)
      return Keyword;
  return "";
}

std::optional<KernelClass> foretrace::findKernelClass(llvm::StringRef Keyword) {
  for (const auto &[Class, Own] : Keywords)
    if (Own == Keyword)
      return Class;
  return std::nullopt;
}

std::vector<llvm::StringRef> foretrace::kernelKeywords() {
  std::vector<llvm::StringRef> All;
  for (const auto &[Class, Keyword] : Keywords)
    All.push_back(Keyword);
  return All;
}

namespace {

/// The parameters of products of one type.
struct ProductLaw {
  Number Efficiency, Memory, Start, K0, Tiles, Sustained;
};

} // namespace

static const ProductLaw &lawOf(ElementType Operand) {
  static constexpr ProductLaw Laws[] = {
      {Number::ProductEfficiency, Number::ProductMemory, Number::ProductStart,
       Number::ProductK0, Number::ProductTiles, Number::SustainedBf16},
      {Number::Fp8Efficiency, Number::Fp8Memory, Number::Fp8Start,
       Number::Fp8K0, Number::Fp8Tiles, Number::SustainedFp8},
      {Number::Fp4Efficiency, Number::Fp4Memory, Number::Fp4Start,
       Number::Fp4K0, Number::Fp4Tiles, Number::SustainedFp4}};
  const ElementInfo &Info = getInfo(Operand);
  const bool IsScaled = isScaled(Operand);
  return Laws[!IsScaled ? 0 : Info.Bits == 8 ? 1 : 2];
}

static double sizeOf(ElementType T) {
  return static_cast<double>(getInfo(T).Bits) / 8;
}

/// The same with the scales of the type.
static double storedSizeOf(ElementType T) {
  const ElementInfo &Info = getInfo(T);
  return sizeOf(T) + (Info.WeightBlock
                          ? static_cast<double>(Info.ScaleBytes) /
                                static_cast<double>(Info.WeightBlock)
                          : 0);
}

double BenchmarkNumbers::peak(TypeKind Operand) const {
  return static_cast<double>(*(Device.*DeviceSpec::peakOf(Operand).Member));
}

double BenchmarkNumbers::bandwidth() const {
  return static_cast<double>(*Device.MemoryBandwidth);
}

RealExpr JobNumbers::operator[](Number Id) const {
  return {P.Sizes, P.Sizes.real(Of[Id], Key{KeyId::LawParameter,
                                            static_cast<unsigned>(Id)})};
}

RealExpr JobNumbers::peak(TypeKind Operand) const {
  const auto Member = DeviceSpec::peakOf(Operand).Member;
  const KeyId Id = Member == &DeviceSpec::PeakFp8   ? KeyId::DevicePeakFp8
                   : Member == &DeviceSpec::PeakFp4 ? KeyId::DevicePeakFp4
                                                    : KeyId::DevicePeakFlops;
  return rate(Id, P->Spec.Cost.Device.*Member);
}

RealExpr JobNumbers::bandwidth() const {
  return rate(KeyId::DeviceMemoryBandwidth,
              P->Spec.Cost.Device.MemoryBandwidth);
}

RealExpr JobNumbers::rate(KeyId Id, const Located<int64_t> &Key) const {
  return {P.Sizes, P.Sizes.real(static_cast<double>(*Key), ir::Key{Id})};
}

std::optional<RealExpr> JobNumbers::slowdown() const {
  constexpr double FewDevices = 64; // of the runs that the rates are from
  const Real Devices(exprOf(P, P->Spec.Parallel.World));
  const Real Doublings = log2(max(number(1), Devices / FewDevices));
  return named(KeyId::LawSlowdown,
               1 + (*this)[Number::SustainedDoubling] * Doublings);
}

constexpr double Tile = 128;     ///< rows and columns of a product's tile
constexpr double QueryTile = 64; ///< queries of a tile of attention

/// If the host needs the counts of tokens, it divides them among several
/// experts of a rank.
template <typename NumbersT>
auto KernelLaws<NumbersT>::startOfGroups(const ProductShapeOf<Real> &S,
                                         bool NeedsCounts) const -> Real {
  return NeedsCounts ? select(isLess(Of.number(1), S.Groups),
                              Of[Number::GroupedStart], Of[Number::GroupedFlex])
                     : Of[Number::GroupedFlex];
}

template <typename NumbersT>
LawParameterIds
KernelLaws<NumbersT>::parametersOf(const ProductShapeOf<Real> &S,
                                   bool NeedsCounts) const {
  const ProductLaw &L = lawOf(S.Operand);
  LawParameterIds All = {L.Efficiency, L.Memory, L.Start, L.K0};
  if (S.Weights)
    All.push_back(L.Tiles);
  if (Slowdown)
    All.append({L.Sustained, Number::SustainedDoubling});
  if (S.IsOfWeight && isScaled(S.Operand))
    All.push_back(Number::StreamEfficiency);
  if (S.IsGrouped && Slowdown) {
    if (NeedsCounts)
      All.push_back(Number::GroupedStart);
    All.push_back(Number::GroupedFlex);
  }
  if (S.IsGrouped)
    All.append({Number::GroupedRows, Number::GroupedInner,
                Number::GroupedWeight, Number::GroupedAccumulation});
  return All;
}

template <typename NumbersT>
LawParameterIds KernelLaws<NumbersT>::parametersOf(KernelClass C) const {
  LawParameterIds All;
  switch (C) {
  case KernelClass::Product:
  case KernelClass::GroupedProduct:
    llvm_unreachable("they depend on the shape");
  case KernelClass::Attention:
    All = {Number::AttentionEfficiency, Number::AttentionStart,
           Number::AttentionS0, Number::AttentionD0, Number::AttentionBackward};
    break;
  case KernelClass::UnfusedAttention:
    All = {Number::ProductEfficiency, Number::ProductMemory,
           Number::ProductStart};
    break;
  case KernelClass::Scan:
    All = {Number::ScanEfficiency};
    break;
  case KernelClass::Stream:
    return {Number::StreamEfficiency, Number::StreamStart};
  case KernelClass::Embedding:
    return {Number::EmbeddingEfficiency, Number::StreamStart};
  case KernelClass::Optimizer:
    return {Number::OptimizerEfficiency, Number::OptimizerStart};
  case KernelClass::Fused:
    return {};
  }
  if (Slowdown)
    All.append({Number::SustainedBf16, Number::SustainedDoubling});
  if (C != KernelClass::Attention || Slowdown)
    All.append({Number::StreamEfficiency, Number::StreamStart});
  return All;
}

/// A rate of FLOPs; in training a sustained one.
template <typename NumbersT>
auto KernelLaws<NumbersT>::rate(Number Efficiency, TypeKind Operand,
                                Number Sustained) const -> Real {
  const Real Rate = Of.peak(Operand) * Of[Efficiency];
  return Slowdown ? Rate * (Of[Sustained] / *Slowdown) : Rate;
}

template <typename NumbersT>
auto KernelLaws<NumbersT>::stream(Real Bytes) const -> Real {
  return Bytes / (Of.bandwidth() * Of[Number::StreamEfficiency]);
}

template <typename NumbersT>
auto KernelLaws<NumbersT>::timeOf(const ProductShapeOf<Real> &S,
                                  bool NeedsCounts) const -> Real {
  const ProductLaw &L = lawOf(S.Operand);
  // Of experts with a mean of so many tokens each, those that have any.
  constexpr double LogOfE = 1.4426950408889634;
  std::optional<Real> Busy;
  if (S.Weights && S.IsGrouped)
    Busy = named(KeyId::LawBusy, S.Groups * (1 - exp2(-LogOfE * S.M)));
  Real Padding = 1 + Of[L.K0] / S.K; // of the inner dimension, and of rows
  if (S.IsGrouped && S.IsOfWeight)
    Padding = (1 + Of[Number::GroupedInner] / S.K) / Of[Number::GroupedWeight];
  else if (S.IsGrouped) {
    const Real Rows = Of[Number::GroupedRows];
    Padding = Padding * (1 + (Busy ? Rows * (*Busy / S.Groups) : Rows) / S.M);
  }
  const Real Compute = named(
      KeyId::LawCompute,
      2 * S.Groups * S.M * S.N * S.K * Padding /
          rate(L.Efficiency, static_cast<TypeKind>(S.Operand), L.Sustained));
  // A gradient of a weight is added to those of the micro-batches before.
  Real Moved =
      S.Groups * (sizeOf(S.Operand) * (S.M * S.K + S.K * S.N) +
                  sizeOf(S.Result) * S.M * S.N * (S.IsOfWeight ? 2.0 : 1.0));
  if (S.Weights)
    Moved = Moved + ((Busy ? *Busy : S.Groups) * storedSizeOf(*S.Weights) -
                     S.Groups * sizeOf(S.Operand)) *
                        S.K * S.N;
  // Few tiles do not read at the full rate.
  if (S.Weights)
    Moved = Moved * (1 + Of[L.Tiles] * (Tile * Tile) /
                             (S.Groups * max(S.M, Of.number(Tile)) * S.N));
  const Real Memory =
      named(KeyId::LawMemory, Moved / (Of.bandwidth() * Of[L.Memory]));
  Real Start = Of[L.Start];
  if (S.IsGrouped && Slowdown)
    Start = Start + startOfGroups(S, NeedsCounts);
  const Real Product = Start * 1e-6 + sqrt(Compute * Compute + Memory * Memory);
  std::optional<Real> Streamed;
  if (S.IsOfWeight && isScaled(S.Operand))
    Streamed = 2 * S.Groups * (S.M * S.K + S.K * S.N);
  if (S.IsOfWeight && S.IsGrouped) {
    const Real Added = Of[Number::GroupedAccumulation] * S.Groups * S.M * S.N;
    Streamed = Streamed ? *Streamed + Added : Added;
  }
  return Streamed ? Product + stream(*Streamed) : Product;
}

/// Rates are measured with heads of 128 channels. The exponential of a score
/// costs the same at any width, so narrower heads need more time for a FLOP.
template <typename NumbersT>
auto KernelLaws<NumbersT>::narrowHeadFactor(
    const AttentionShapeOf<Real> &S) const -> Real {
  constexpr double Usual = 128;
  const Real Channels = (S.QueryChannels + S.ContextChannels) / 2 / S.Heads;
  const Real Fixed = Of[Number::AttentionD0];
  return named(KeyId::LawNarrow,
               select(isLess(Of.number(0), S.Heads),
                      (1 + Fixed / Channels) / (1 + Fixed / Usual),
                      Of.number(1)));
}

/// Keys and values come from the memory. The rows of a product are the queries
/// of the heads that share a key head, in tiles (FlashAttention and FlashMLA).
template <typename NumbersT>
auto KernelLaws<NumbersT>::timeOfCached(const AttentionShapeOf<Real> &S) const
    -> Real {
  const Real Keys = named(KeyId::LawKeys, S.Pairs / S.Queries);
  const Real Shared = S.QueryChannels / S.KeyChannels; // heads of a key head
  const Real Rows = S.Queries * Shared;
  const Real Compute = named(
      KeyId::LawCompute, workOf(S) * max(Rows, Of.number(QueryTile)) / Rows /
                             rate(Number::DecodeEfficiency, TypeKind::BF16,
                                  Number::SustainedBf16));
  const Real Memory =
      named(KeyId::LawMemory, S.Batch * Keys * *S.OfCached /
                                  (Of.bandwidth() * Of[Number::DecodeMemory]));
  const Real Start = Of[Number::DecodeStart] +
                     Of[Number::DecodeLog] * log2(1 + Keys / Tile) +
                     Of[Number::DecodeHead] * S.Batch * S.Heads / Shared;
  return Start * 1e-6 + sqrt(Compute * Compute + Memory * Memory);
}

template <typename NumbersT>
auto KernelLaws<NumbersT>::timeOf(const AttentionShapeOf<Real> &S) const
    -> Real {
  return S.OfCached ? select(isLess(S.Queries, Of.number(QueryTile)),
                             timeOfCached(S), timeOfFused(S))
                    : timeOfFused(S);
}

template <typename NumbersT>
auto KernelLaws<NumbersT>::timeOfFused(const AttentionShapeOf<Real> &S) const
    -> Real {
  const Real Hidden =
      select(isLess(S.Pairs, S.Queries * S.Keys), // there is a mask
             Of[Number::AttentionS0] * S.Queries / (2 * S.Pairs), Of.number(0));
  Real Work = named(KeyId::LawWork, workOf(S)) *
              (1 + named(KeyId::LawMasked, Hidden)) * narrowHeadFactor(S);
  Real Rate =
      rate(Number::AttentionEfficiency, TypeKind::BF16, Number::SustainedBf16);
  if (S.IsBackward) {
    Work = Work * 1.25;
    Rate = Rate * Of[Number::AttentionBackward];
  }
  return Of[Number::AttentionStart] * 1e-6 + Work / Rate;
}

template <typename NumbersT>
auto KernelLaws<NumbersT>::timeOfArranging(Real Elements, bool IsBackward) const
    -> Real {
  return Of[Number::StreamStart] * 1e-6 +
         stream((IsBackward ? 8.0 : 6.0) * Elements);
}

/// Each product reads or writes all scores.
template <typename NumbersT>
auto KernelLaws<NumbersT>::timeOf(const ScoresShapeOf<Real> &S) const -> Real {
  const double Products = S.IsBackward ? 4 : 2;
  const Real Compute = named(
      KeyId::LawCompute, S.Work / rate(Number::ProductEfficiency,
                                       TypeKind::BF16, Number::SustainedBf16));
  const Real Memory =
      named(KeyId::LawMemory,
            2 * S.Scores / (Of.bandwidth() * Of[Number::ProductMemory]));
  double OfScore = S.IsBackward ? 5 : 4;
  if (S.HasDropout)
    OfScore += S.IsBackward ? 6 : 5;
  return (Products * Of[Number::ProductStart] + Of[Number::StreamStart]) *
             1e-6 +
         Products * sqrt(Compute * Compute + Memory * Memory) +
         stream(OfScore * S.Scores);
}

template <typename NumbersT>
auto KernelLaws<NumbersT>::timeOf(const StreamShapeOf<Real> &S) const -> Real {
  switch (S.Class) {
  case KernelClass::Scan:
    return Of[Number::StreamStart] * 1e-6 +
           max(S.Work / rate(Number::ScanEfficiency, TypeKind::BF16,
                             Number::SustainedBf16),
               stream(S.Bytes));
  case KernelClass::Stream:
    return Of[Number::StreamStart] * 1e-6 + stream(S.Bytes);
  case KernelClass::Embedding:
    return Of[Number::StreamStart] * 1e-6 +
           S.Bytes / (Of.bandwidth() * Of[Number::EmbeddingEfficiency]);
  case KernelClass::Optimizer:
    return Of[Number::OptimizerStart] * 1e-6 +
           S.Bytes / (Of.bandwidth() * Of[Number::OptimizerEfficiency]);
  case KernelClass::Fused:
    return Of.number(0);
  default:
    llvm_unreachable("a class with a shape of its own");
  }
}

template class foretrace::KernelLaws<BenchmarkNumbers>;
template class foretrace::KernelLaws<JobNumbers>;
