// SPDX-License-Identifier: Apache-2.0
#include "analysis/KernelTimes.h"
#include "analysis/Analyses.h"
#include "analysis/OpTimes.h"
#include "ir/model/OpKinds.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>

using namespace foretrace;
using namespace foretrace::ir;

using Number = KernelParameterId;

KernelClass foretrace::kernelClassOf(const Block &B, const Op &O) {
  switch (O.Kind) {
  case OpKind::MatMul:
    return llvm::any_of(valuesOf(B, O),
                        [](const Value *V) {
                          return V->Type.indexOf(DimKind::Expert) >= 0;
                        })
               ? KernelClass::GroupedProduct
               : KernelClass::Product;
  case OpKind::Attention:
    return KernelClass::Attention;
  case OpKind::Optimizer:
    return KernelClass::Optimizer;
  case OpKind::Scan:
  case OpKind::Conv:
  case OpKind::Opaque:
    return O.Work.Id.isValid() ? KernelClass::Scan : KernelClass::Stream;
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

/// Returns the type in which a product reads its first operand.
static ElementType operandType(const Block &B, const Op &O) {
  return B.Values[O.Operands.front()].Type.Element;
}

static llvm::SmallVector<Number, 8> parametersOf(const Block &B, const Op &O) {
  switch (kernelClassOf(B, O)) {
  case KernelClass::Product:
  case KernelClass::GroupedProduct: {
    const ProductLaw &L = lawOf(operandType(B, O));
    llvm::SmallVector<Number, 8> Of = {L.Efficiency, L.Memory, L.Start, L.K0,
                                       L.Sustained};
    if (kernelClassOf(B, O) == KernelClass::GroupedProduct)
      Of.append({Number::GroupedRows, Number::GroupedInner});
    return Of;
  }
  case KernelClass::Attention:
    return {Number::AttentionEfficiency, Number::AttentionStart,
            Number::AttentionS0, Number::AttentionBackward,
            Number::SustainedBf16};
  case KernelClass::Scan:
    return {Number::ScanEfficiency, Number::StreamEfficiency,
            Number::StreamStart, Number::SustainedBf16};
  case KernelClass::Stream:
    return {Number::StreamEfficiency, Number::StreamStart};
  case KernelClass::Optimizer:
    return {Number::OptimizerEfficiency};
  }
  llvm_unreachable("covered switch");
}

const KernelParameterInfo *KernelTimes::findMissing(const Block &B,
                                                    const Op &O) const {
  for (const Number Of : parametersOf(B, O))
    if (!P.Spec.Cost.findKernel(Of))
      return &kernelParameters()[static_cast<size_t>(Of)];
  return nullptr;
}

double KernelTimes::of(Number Of) const {
  return P.Spec.Cost.findKernel(Of)->Value;
}

/// Returns the FLOPs of \p O on a rank.
static double workOnRank(const Program &P, const Op &O) {
  return static_cast<double>(P.Sizes.value(O.Work).value());
}

static double elementsOf(const Program &P, const Value &V) {
  return static_cast<double>(P.Sizes.value(V.OnRank).value());
}

static double sizeInBytes(const Program &P, const Value &V) {
  return elementsOf(P, V) * static_cast<double>(getInfo(V.Type.Element).Bits) /
         8;
}

/// Returns the experts of a rank whose weights \p O reads or makes gradients
/// of.
static double expertsOf(const Program &P, const Block &B, const Op &O) {
  for (const Value *V : valuesOf(B, O)) {
    const int I = V->Type.indexOf(DimKind::Expert);
    const auto Dim = static_cast<size_t>(std::max(I, 0));
    if (I < 0 || isSpread(P, V->Type.Dims[Dim]))
      continue;
    double Ranks = 1;
    for (const Axis A : axesSplitting(P, V->Type, V->Layout, Dim))
      Ranks *= static_cast<double>(P.Mesh[A]);
    return static_cast<double>(P.Sizes.value(V->Type.Dims[Dim].Size)) / Ranks;
  }
  return 1;
}

/// The inner dimension of a product of A and B to C is sqrt(A B / C).
double KernelTimes::product(const Block &B, const Op &O, bool IsGrouped) const {
  const Value &Left = B.Values[O.Operands[0]], &Right = B.Values[O.Operands[1]];
  const Value &Out = B.Values[O.Results.front()];
  const double Work = workOnRank(P, O);
  const double Groups = IsGrouped ? expertsOf(P, B, O) : 1;
  const bool IsOfWeight = O.Derivative == Derivative::Param;
  const double Inner =
      Work / 2 / elementsOf(P, Out); // of all groups, as Out has all of them
  const ProductLaw &L = lawOf(operandType(B, O));
  double More = of(L.K0) / Inner;
  if (IsGrouped && IsOfWeight)
    More = of(Number::GroupedInner) / Inner;
  else if (IsGrouped)
    More += of(Number::GroupedRows) * Groups * Inner / elementsOf(P, Left);
  const auto Peak =
      static_cast<double>(*(P.Spec.Cost.Device.*peakOf(B, O).Member));
  const auto Bandwidth =
      static_cast<double>(*P.Spec.Cost.Device.MemoryBandwidth);
  const double Compute =
      Work * (1 + More) / (Peak * of(L.Efficiency) * of(L.Sustained));
  // A gradient of a weight is added to those of the micro-batches before.
  const double Moved = sizeInBytes(P, Left) + sizeInBytes(P, Right) +
                       sizeInBytes(P, Out) * (IsOfWeight ? 2 : 1);
  const double Memory = Moved / (Bandwidth * of(L.Memory));
  return of(L.Start) * 1e-6 + std::sqrt(Compute * Compute + Memory * Memory);
}

double KernelTimes::attention(const Block &B, const Op &O) const {
  const Op &Forward = O.Derivative == Derivative::None ? O : B.Ops[O.For];
  const Value &Key = B.Values[Forward.Operands[1]];
  auto Keys = static_cast<double>(*P.Spec.Train.Sequence);
  if (const int I = Key.Type.indexOf(DimKind::KvSeq); I >= 0)
    Keys = static_cast<double>(
        P.Sizes.value(Key.Type.Dims[static_cast<size_t>(I)].Size));
  const auto Peak = static_cast<double>(
      *(P.Spec.Cost.Device.*DeviceSpec::peakOf(TypeKind::BF16).Member));
  double Rate =
      Peak * of(Number::AttentionEfficiency) * of(Number::SustainedBf16);
  double Work = workOnRank(P, O) * (1 + of(Number::AttentionS0) / Keys);
  if (O.Derivative != Derivative::None) {
    Work *= 1.25;
    Rate *= of(Number::AttentionBackward);
  }
  return of(Number::AttentionStart) * 1e-6 + Work / Rate;
}

Nanoseconds KernelTimes::timeOf(const Block &B, const Op &O,
                                Bytes Touched) const {
  const auto Moved = static_cast<double>(Touched.value());
  const auto Bandwidth =
      static_cast<double>(*P.Spec.Cost.Device.MemoryBandwidth);
  double Seconds = 0;
  switch (const KernelClass Is = kernelClassOf(B, O)) {
  case KernelClass::Product:
  case KernelClass::GroupedProduct:
    Seconds = product(B, O, Is == KernelClass::GroupedProduct);
    break;
  case KernelClass::Attention:
    Seconds = attention(B, O);
    break;
  case KernelClass::Scan: {
    const auto Peak = static_cast<double>(
        *(P.Spec.Cost.Device.*DeviceSpec::peakOf(TypeKind::BF16).Member));
    Seconds = of(Number::StreamStart) * 1e-6 +
              std::max(workOnRank(P, O) / (Peak * of(Number::ScanEfficiency) *
                                           of(Number::SustainedBf16)),
                       Moved / (Bandwidth * of(Number::StreamEfficiency)));
    break;
  }
  case KernelClass::Stream:
    Seconds = of(Number::StreamStart) * 1e-6 +
              Moved / (Bandwidth * of(Number::StreamEfficiency));
    break;
  case KernelClass::Optimizer:
    Seconds = Moved / (Bandwidth * of(Number::OptimizerEfficiency));
    break;
  }
  const double Time = Seconds * 1e9;
  return Time < 0x1p62 ? Nanoseconds(std::llrint(Time))
                       : Nanoseconds::overflow();
}
