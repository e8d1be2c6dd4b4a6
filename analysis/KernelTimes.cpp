// SPDX-License-Identifier: Apache-2.0
#include "analysis/KernelTimes.h"
#include "analysis/Analyses.h"
#include "analysis/OpTimes.h"
#include "analysis/Work.h"
#include "ir/model/OpKinds.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>

using namespace foretrace;
using namespace foretrace::ir;

using Number = KernelParameterId;

/// Returns the op whose derivative \p O is, or \p O itself.
static const Op &forwardOf(const Block &B, const Op &O) {
  return O.Derivative == Derivative::None ? O : B.Ops[O.For];
}

/// Returns the scores that unfused attention saves, or null.
static const Value *scoresOf(const Block &B, const Op &Attention) {
  for (const ValueId V : Attention.Results) {
    const TensorType &T = B.Values[V].Type;
    if (T.indexOf(DimKind::Seq) >= 0 && T.indexOf(DimKind::KvSeq) >= 0)
      return &B.Values[V];
  }
  return nullptr;
}

/// Returns the FLOPs of \p O on a rank.
static double workOnRank(const Program &P, const Op &O) {
  return O.Work.Id.isValid()
             ? static_cast<double>(P.Sizes.value(O.Work).value())
             : 0;
}

static double elementsOf(const Program &P, const Value &V) {
  return static_cast<double>(P.Sizes.value(V.OnRank).value());
}

static double sizeInBytes(const Program &P, const Value &V) {
  return elementsOf(P, V) * static_cast<double>(getInfo(V.Type.Element).Bits) /
         8;
}

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
  case KernelClass::Fused:
    return "other kernels";
  case KernelClass::Optimizer:
    return "optimizer";
  }
  llvm_unreachable("every class is handled");
}

KernelClass KernelTimes::classOf(const Block &B, const Op &O) const {
  switch (O.Kind) {
  case OpKind::MatMul:
    return llvm::any_of(valuesOf(B, O),
                        [](const Value *V) {
                          return V->Type.indexOf(DimKind::Expert) >= 0;
                        })
               ? KernelClass::GroupedProduct
               : KernelClass::Product;
  case OpKind::Attention:
    if (O.Derivative == Derivative::Param)
      return KernelClass::Stream; // a sum over tokens
    return scoresOf(B, forwardOf(B, O)) ? KernelClass::UnfusedAttention
                                        : KernelClass::Attention;
  case OpKind::Optimizer:
    return KernelClass::Optimizer;
  case OpKind::Norm: // the kernel of the other gradient sums this one, too
    return O.Derivative == Derivative::Param ? KernelClass::Fused
                                             : KernelClass::Stream;
  case OpKind::Scan:
  case OpKind::Conv:
  case OpKind::Opaque: {
    double Elements = 0;
    for (const Value *V : valuesOf(B, O))
      Elements += elementsOf(P, *V);
    return workOnRank(P, O) > 2 * Elements ? KernelClass::Scan
                                           : KernelClass::Stream;
  }
  default:
    return KernelClass::Stream;
  }
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

/// Only dispatchers that send copies do not need the counts of tokens on the
/// host, so that graphs can contain them.
static Number groupedStart(const Program &P, const Block &B) {
  return B.Copies && P.Spec.Train.CudaGraphs.is(true) ? Number::GroupedGraph
                                                      : Number::GroupedStart;
}

/// Returns the type in which a product reads its first operand.
static ElementType operandType(const Block &B, const Op &O) {
  return B.Values[O.Operands.front()].Type.Element;
}

llvm::SmallVector<Number, 8> KernelTimes::parametersOf(const Block &B,
                                                       const Op &O) const {
  switch (classOf(B, O)) {
  case KernelClass::Product:
  case KernelClass::GroupedProduct: {
    const ProductLaw &L = lawOf(operandType(B, O));
    llvm::SmallVector<Number, 8> Of = {L.Efficiency, L.Memory,
                                       L.Start,      L.K0,
                                       L.Sustained,  Number::SustainedDoubling};
    if (O.Derivative == Derivative::Param && isScaled(operandType(B, O)))
      Of.push_back(Number::StreamEfficiency);
    if (classOf(B, O) == KernelClass::GroupedProduct)
      Of.append(
          {groupedStart(P, B), Number::GroupedRows, Number::GroupedInner});
    return Of;
  }
  case KernelClass::Attention:
    return {Number::AttentionEfficiency, Number::AttentionStart,
            Number::AttentionS0,         Number::AttentionBackward,
            Number::SustainedBf16,       Number::SustainedDoubling,
            Number::StreamEfficiency,    Number::StreamStart};
  case KernelClass::UnfusedAttention:
    return {Number::ProductEfficiency, Number::ProductMemory,
            Number::ProductStart,      Number::SustainedBf16,
            Number::SustainedDoubling, Number::StreamEfficiency,
            Number::StreamStart};
  case KernelClass::Scan:
    return {Number::ScanEfficiency, Number::StreamEfficiency,
            Number::StreamStart, Number::SustainedBf16,
            Number::SustainedDoubling};
  case KernelClass::Stream:
    return {Number::StreamEfficiency, Number::StreamStart};
  case KernelClass::Optimizer:
    return {Number::OptimizerEfficiency, Number::OptimizerStart};
  case KernelClass::Fused:
    return {};
  }
  llvm_unreachable("covered switch");
}

const KernelParameterInfo *KernelTimes::findMissing(const Block &B,
                                                    const Op &O) const {
  for (const Number Of : parametersOf(B, O))
    if (!P.Spec.Cost.kernel(Of))
      return &kernelParameters()[static_cast<size_t>(Of)];
  return nullptr;
}

std::string KernelTimes::describe(const Block &B, const Op &O) const {
  std::string Text;
  llvm::raw_string_ostream OS(Text);
  llvm::ListSeparator Comma;
  for (const Number Of : parametersOf(B, O))
    OS << Comma << kernelParameters()[static_cast<size_t>(Of)].Name << " = "
       << llvm::format("%g", of(Of));
  return Text;
}

double KernelTimes::of(Number Of) const { return *P.Spec.Cost.kernel(Of); }

double KernelTimes::sustained(Number Of) const {
  constexpr double FewDevices = 64; // of the runs that the rates are from
  const double Doublings = std::log2(
      std::max(1.0, static_cast<double>(*P.Spec.Parallel.World) / FewDevices));
  return of(Of) / (1 + of(Number::SustainedDoubling) * Doublings);
}

int64_t foretrace::groupsOf(const Program &P, const Block &B, const Op &O) {
  for (const Value *V : valuesOf(B, O)) {
    const int I = V->Type.indexOf(DimKind::Expert);
    const auto Dim = static_cast<size_t>(std::max(I, 0));
    if (I < 0 || isSpread(P, V->Type.Dims[Dim]))
      continue;
    int64_t Ranks = 1;
    for (const Axis A : axesSplitting(P, V->Type, V->Layout, Dim))
      Ranks *= P.Mesh[A];
    return P.Sizes.value(V->Type.Dims[Dim].Size) / Ranks;
  }
  return 1;
}

/// The inner dimension of a product of A and B to C is sqrt(A B / C).
double KernelTimes::product(const Block &B, const Op &O, bool IsGrouped) const {
  const Value &Left = B.Values[O.Operands[0]], &Right = B.Values[O.Operands[1]];
  const Value &Out = B.Values[O.Results.front()];
  const double Work = workOnRank(P, O);
  const double Groups = IsGrouped ? static_cast<double>(groupsOf(P, B, O)) : 1;
  const bool IsOfWeight = O.Derivative == Derivative::Param;
  const double Inner =
      Work / 2 / elementsOf(P, Out); // of all groups, as Out has all of them
  const ProductLaw &L = lawOf(operandType(B, O));
  double Padding = 1 + of(L.K0) / Inner; // of the inner dimension, and of rows
  if (IsGrouped && IsOfWeight)
    Padding = 1 + of(Number::GroupedInner) / Inner;
  else if (IsGrouped)
    Padding *=
        1 + of(Number::GroupedRows) * Groups * Inner / elementsOf(P, Left);
  const auto Peak =
      static_cast<double>(*(P.Spec.Cost.Device.*peakOf(B, O).Member));
  const auto Bandwidth =
      static_cast<double>(*P.Spec.Cost.Device.MemoryBandwidth);
  const double Compute =
      Work * Padding / (Peak * of(L.Efficiency) * sustained(L.Sustained));
  // A gradient of a weight is added to those of the micro-batches before.
  const double Moved = sizeInBytes(P, Left) + sizeInBytes(P, Right) +
                       sizeInBytes(P, Out) * (IsOfWeight ? 2 : 1);
  const double Memory = Moved / (Bandwidth * of(L.Memory));
  const double Start = of(L.Start) + (IsGrouped ? of(groupedStart(P, B)) : 0);
  return Start * 1e-6 + std::sqrt(Compute * Compute + Memory * Memory) +
         (IsOfWeight && isScaled(operandType(B, O))
              ? 2 * (elementsOf(P, Left) + elementsOf(P, Right)) /
                    (Bandwidth * of(Number::StreamEfficiency))
              : 0);
}

static double peakInBf16(const Program &P) {
  return static_cast<double>(
      *(P.Spec.Cost.Device.*DeviceSpec::peakOf(TypeKind::BF16).Member));
}

/// Returns the number of tokens of a sample in dimension \p Kind of \p V, or
/// that of the job's text.
static double tokensOf(const Program &P, const Value &V, DimKind Kind) {
  const int I = V.Type.indexOf(Kind);
  return static_cast<double>(
      I < 0 ? *P.Spec.Train.Sequence
            : P.Sizes.value(V.Type.Dims[static_cast<size_t>(I)].Size));
}

/// Queries, keys and values are split and rotated first: 6 bytes for each of
/// their elements, 8 backward.
double KernelTimes::arranging(const Block &B, const Op &O) const {
  const Op &Forward = forwardOf(B, O);
  double Elements = 0;
  for (const ValueId V : Forward.Operands)
    Elements += elementsOf(P, B.Values[V]);
  const double OfElement = O.Derivative == Derivative::None ? 6 : 8;
  return of(Number::StreamStart) * 1e-6 +
         OfElement * Elements /
             (static_cast<double>(*P.Spec.Cost.Device.MemoryBandwidth) *
              of(Number::StreamEfficiency));
}

double KernelTimes::attention(const Block &B, const Op &O) const {
  const Op &Forward = forwardOf(B, O);
  const double Queries =
      tokensOf(P, B.Values[Forward.Operands[0]], DimKind::Seq);
  const double All =
      Queries * tokensOf(P, B.Values[Forward.Operands[1]], DimKind::KvSeq);
  const double Pairs = Forward.Stated.isValid()
                           ? static_cast<double>(P.Sizes.value(Forward.Stated))
                           : All / 2;
  const double Hidden =
      Pairs < All ? of(Number::AttentionS0) * Queries / (2 * Pairs) : 0;
  double Work = workOnRank(P, O) * (1 + Hidden);
  double Rate = peakInBf16(P) * of(Number::AttentionEfficiency) *
                sustained(Number::SustainedBf16);
  if (O.Derivative != Derivative::None) {
    Work *= 1.25;
    Rate *= of(Number::AttentionBackward);
  }
  return of(Number::AttentionStart) * 1e-6 + Work / Rate + arranging(B, O);
}

/// Each product reads or writes all scores.
double KernelTimes::unfusedAttention(const Block &B, const Op &O) const {
  const Op &Forward = forwardOf(B, O);
  const Value &Query = B.Values[Forward.Operands[0]],
              &Key = B.Values[Forward.Operands[1]],
              &Context = B.Values[Forward.Results.front()],
              &Scores = *scoresOf(B, Forward);
  const bool IsBackward = O.Derivative != Derivative::None;
  const double Products = IsBackward ? 4 : 2;
  const auto Bandwidth =
      static_cast<double>(*P.Spec.Cost.Device.MemoryBandwidth);
  const double Rate = peakInBf16(P) * of(Number::ProductEfficiency) *
                      sustained(Number::SustainedBf16);
  const double Compute = tokensOf(P, Key, DimKind::KvSeq) *
                         (elementsOf(P, Query) + elementsOf(P, Context)) / Rate;
  const double Memory =
      2 * elementsOf(P, Scores) / (Bandwidth * of(Number::ProductMemory));
  const double OfScore =
      (IsBackward ? 5 : 4) + (*P.Spec.Train.Dropout ? IsBackward ? 6 : 5 : 0);
  return (Products * of(Number::ProductStart) + of(Number::StreamStart)) *
             1e-6 +
         Products * std::sqrt(Compute * Compute + Memory * Memory) +
         OfScore * elementsOf(P, Scores) /
             (Bandwidth * of(Number::StreamEfficiency));
}

/// Returns the bytes of the gradients of \p Update, which their norm reads.
static double gradientBytes(const Program &P, const Block &B,
                            const Op &Update) {
  double Size = 0;
  for (const ValueId V : Update.Operands)
    Size += sizeInBytes(P, B.Values[V]);
  return Size;
}

Nanoseconds KernelTimes::timeOf(const Block &B, const Op &O,
                                Bytes Touched) const {
  const auto Moved = static_cast<double>(Touched.value());
  const auto Bandwidth =
      static_cast<double>(*P.Spec.Cost.Device.MemoryBandwidth);
  double Seconds = 0;
  switch (const KernelClass Is = classOf(B, O)) {
  case KernelClass::Product:
  case KernelClass::GroupedProduct:
    Seconds = product(B, O, Is == KernelClass::GroupedProduct);
    break;
  case KernelClass::Attention:
    Seconds = attention(B, O);
    break;
  case KernelClass::UnfusedAttention:
    Seconds = unfusedAttention(B, O);
    break;
  case KernelClass::Scan:
    Seconds = of(Number::StreamStart) * 1e-6 +
              std::max(workOnRank(P, O) /
                           (peakInBf16(P) * of(Number::ScanEfficiency) *
                            sustained(Number::SustainedBf16)),
                       Moved / (Bandwidth * of(Number::StreamEfficiency)));
    break;
  case KernelClass::Stream:
    Seconds = of(Number::StreamStart) * 1e-6 +
              Moved / (Bandwidth * of(Number::StreamEfficiency));
    break;
  case KernelClass::Optimizer:
    Seconds = of(Number::OptimizerStart) * 1e-6 +
              (Moved + gradientBytes(P, B, O)) /
                  (Bandwidth * of(Number::OptimizerEfficiency));
    break;
  case KernelClass::Fused:
    break;
  }
  return roundedTime(Seconds);
}
