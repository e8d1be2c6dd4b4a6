// SPDX-License-Identifier: Apache-2.0
#include "analysis/KernelLaws.h"
#include "ir/model/Ops.h"
#include <cmath>
#include <limits>

using namespace foretrace;
using namespace foretrace::ir;

using Number = KernelParameterId;

LawParameters::LawParameters(const CostSpec &C) {
  for (size_t I = 0; I < Count; ++I)
    Values[I] = C.kernel(static_cast<Number>(I))
                    .value_or(std::numeric_limits<double>::quiet_NaN());
}

void LawParameters::store(CostSpec &C) const {
  C.Kernels.clear();
  for (size_t I = 0; I < Count; ++I)
    if (has(static_cast<Number>(I)))
      C.Kernels.push_back({static_cast<Number>(I), Values[I]});
}

bool LawParameters::has(Number Id) const { return !std::isnan((*this)[Id]); }

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
  Number Efficiency, Memory, Start, K0, Sustained;
};

} // namespace

static const ProductLaw &lawOf(ElementType Operand) {
  static constexpr ProductLaw Laws[] = {
      {Number::ProductEfficiency, Number::ProductMemory, Number::ProductStart,
       Number::ProductK0, Number::SustainedBf16},
      {Number::Fp8Efficiency, Number::Fp8Memory, Number::Fp8Start,
       Number::Fp8K0, Number::SustainedFp8},
      {Number::Fp4Efficiency, Number::Fp4Memory, Number::Fp4Start,
       Number::Fp4K0, Number::SustainedFp4}};
  const ElementInfo &Info = getInfo(Operand);
  const bool IsScaled = isScaled(Operand);
  return Laws[!IsScaled ? 0 : Info.Bits == 8 ? 1 : 2];
}

static double sizeOf(ElementType T) {
  return static_cast<double>(getInfo(T).Bits) / 8;
}

KernelLaws::KernelLaws(const Spec &Job)
    : Of(Job.Cost), Device(Job.Cost.Device) {
  constexpr double FewDevices = 64; // of the runs that the rates are from
  const double Doublings = std::log2(
      std::max(1.0, static_cast<double>(*Job.Parallel.World) / FewDevices));
  Slowdown = 1 + Of[Number::SustainedDoubling] * Doublings;
}

/// If the host needs the counts of tokens, it divides them among several
/// experts of a rank.
static Number startOf(const ProductShape &S, bool NeedsCounts) {
  return NeedsCounts && S.Groups > 1 ? Number::GroupedStart
                                     : Number::GroupedFlex;
}

KernelLaws::Parameters KernelLaws::parametersOf(const ProductShape &S,
                                                bool NeedsCounts) const {
  const ProductLaw &L = lawOf(S.Operand);
  Parameters All = {L.Efficiency, L.Memory, L.Start, L.K0};
  if (Slowdown)
    All.append({L.Sustained, Number::SustainedDoubling});
  if (S.IsOfWeight && isScaled(S.Operand))
    All.push_back(Number::StreamEfficiency);
  if (S.IsGrouped && Slowdown)
    All.push_back(startOf(S, NeedsCounts));
  if (S.IsGrouped)
    All.append({Number::GroupedRows, Number::GroupedInner,
                Number::GroupedWeight, Number::GroupedAccumulation});
  return All;
}

KernelLaws::Parameters KernelLaws::parametersOf(KernelClass C) const {
  Parameters All;
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

double KernelLaws::sustained(Number Id) const {
  return Slowdown ? Of[Id] / *Slowdown : 1;
}

double KernelLaws::peak(TypeKind Operand) const {
  return static_cast<double>(*(Device.*DeviceSpec::peakOf(Operand).Member));
}

double KernelLaws::bandwidth() const {
  return static_cast<double>(*Device.MemoryBandwidth);
}

double KernelLaws::stream(double Bytes) const {
  return Bytes / (bandwidth() * Of[Number::StreamEfficiency]);
}

double KernelLaws::timeOf(const ProductShape &S, bool NeedsCounts) const {
  const ProductLaw &L = lawOf(S.Operand);
  double Padding = 1 + Of[L.K0] / S.K; // of the inner dimension, and of rows
  if (S.IsGrouped && S.IsOfWeight)
    Padding = (1 + Of[Number::GroupedInner] / S.K) / Of[Number::GroupedWeight];
  else if (S.IsGrouped)
    Padding *= 1 + Of[Number::GroupedRows] / S.M;
  const double Compute = 2 * S.Groups * S.M * S.N * S.K * Padding /
                         (peak(static_cast<TypeKind>(S.Operand)) *
                          Of[L.Efficiency] * sustained(L.Sustained));
  // A gradient of a weight is added to those of the micro-batches before.
  const double Moved =
      S.Groups * (sizeOf(S.Operand) * (S.M * S.K + S.K * S.N) +
                  sizeOf(S.Result) * S.M * S.N * (S.IsOfWeight ? 2 : 1));
  const double Memory = Moved / (bandwidth() * Of[L.Memory]);
  double Streamed = 0;
  if (S.IsOfWeight && isScaled(S.Operand))
    Streamed = 2 * S.Groups * (S.M * S.K + S.K * S.N);
  if (S.IsOfWeight && S.IsGrouped)
    Streamed += Of[Number::GroupedAccumulation] * S.Groups * S.M * S.N;
  double Start = Of[L.Start];
  if (S.IsGrouped && Slowdown)
    Start += Of[startOf(S, NeedsCounts)];
  return Start * 1e-6 + std::sqrt(Compute * Compute + Memory * Memory) +
         (Streamed > 0 ? stream(Streamed) : 0);
}

double foretrace::workOf(const AttentionShape &S) {
  return (S.IsBackward ? 4 : 2) * S.Batch * S.Pairs *
         (S.QueryChannels + S.ContextChannels);
}

/// Rates are measured with heads of 128 channels. The exponential of a score
/// costs the same at any width, so narrower heads need more time for a FLOP.
double KernelLaws::narrowHeadFactor(const AttentionShape &S) const {
  constexpr double Usual = 128;
  if (S.Heads == 0)
    return 1;
  const double Channels = (S.QueryChannels + S.ContextChannels) / 2 / S.Heads;
  const double Fixed = Of[Number::AttentionD0];
  return (1 + Fixed / Channels) / (1 + Fixed / Usual);
}

double KernelLaws::timeOf(const AttentionShape &S) const {
  const bool IsMasked = S.Pairs < S.Queries * S.Keys;
  const double Hidden =
      IsMasked ? Of[Number::AttentionS0] * S.Queries / (2 * S.Pairs) : 0;
  double Work = workOf(S) * (1 + Hidden) * narrowHeadFactor(S);
  double Rate = peak(TypeKind::BF16) * Of[Number::AttentionEfficiency] *
                sustained(Number::SustainedBf16);
  if (S.IsBackward) {
    Work *= 1.25;
    Rate *= Of[Number::AttentionBackward];
  }
  return Of[Number::AttentionStart] * 1e-6 + Work / Rate;
}

double KernelLaws::timeOfArranging(double Elements, bool IsBackward) const {
  return Of[Number::StreamStart] * 1e-6 +
         stream((IsBackward ? 8 : 6) * Elements);
}

/// Each product reads or writes all scores.
double KernelLaws::timeOf(const ScoresShape &S) const {
  const double Products = S.IsBackward ? 4 : 2;
  const double Compute =
      S.Work / (peak(TypeKind::BF16) * Of[Number::ProductEfficiency] *
                sustained(Number::SustainedBf16));
  const double Memory =
      2 * S.Scores / (bandwidth() * Of[Number::ProductMemory]);
  double OfScore = S.IsBackward ? 5 : 4;
  if (S.HasDropout)
    OfScore += S.IsBackward ? 6 : 5;
  return (Products * Of[Number::ProductStart] + Of[Number::StreamStart]) *
             1e-6 +
         Products * std::sqrt(Compute * Compute + Memory * Memory) +
         stream(OfScore * S.Scores);
}

double KernelLaws::timeOf(const StreamShape &S) const {
  switch (S.Class) {
  case KernelClass::Scan:
    return Of[Number::StreamStart] * 1e-6 +
           std::max(S.Work /
                        (peak(TypeKind::BF16) * Of[Number::ScanEfficiency] *
                         sustained(Number::SustainedBf16)),
                    stream(S.Bytes));
  case KernelClass::Stream:
    return Of[Number::StreamStart] * 1e-6 + stream(S.Bytes);
  case KernelClass::Embedding:
    return Of[Number::StreamStart] * 1e-6 +
           S.Bytes / (bandwidth() * Of[Number::EmbeddingEfficiency]);
  case KernelClass::Optimizer:
    return Of[Number::OptimizerStart] * 1e-6 +
           S.Bytes / (bandwidth() * Of[Number::OptimizerEfficiency]);
  case KernelClass::Fused:
    return 0;
  default:
    llvm_unreachable("a class with a shape of its own");
  }
}
