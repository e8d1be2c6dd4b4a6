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

/// Returns whether a concat writes \p V in the order that attention reads, as
/// it does for the keys and values of latent attention.
static bool isArranged(const Block &B, ValueId V) {
  return llvm::any_of(B.Ops, [&](const Op &O) {
    return O.Kind == OpKind::Concat && llvm::is_contained(O.Results, V);
  });
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

static bool isGrouped(const Block &B, const Op &Product) {
  return llvm::any_of(valuesOf(B, Product), [](const Value *V) {
    return V->Type.indexOf(DimKind::Expert) >= 0;
  });
}

KernelClass KernelTimes::classOf(const Block &B, const Op &O) const {
  if (isFusedWithExperts(P, B, O))
    return KernelClass::Fused;
  switch (O.Kind) {
  case OpKind::MatMul:
    return isGrouped(B, O) ? KernelClass::GroupedProduct : KernelClass::Product;
  case OpKind::Attention:
    if (O.Derivative == Derivative::Param)
      return KernelClass::Stream; // a sum over tokens
    return scoresOf(B, forwardOf(B, O)) ? KernelClass::UnfusedAttention
                                        : KernelClass::Attention;
  case OpKind::Embed:
    return KernelClass::Embedding;
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

/// Returns the value of key \p Key of a layer of \p B, or 0 without such a key.
static double valueOf(const Program &P, const Block &B,
                      LayerUse BlockSpec::*Layer, llvm::StringRef Key) {
  for (const BlockSpec &Of : P.Spec.Model.Blocks)
    if (Of.Name == B.Name)
      if (const auto *Number = (Of.*Layer).find<int64_t>(Key))
        return static_cast<double>(**Number);
  return 0;
}

/// Returns the experts of a rank that are a dimension of one of \p Values, or 1
/// if no value has one.
template <typename ValuesT>
static double expertsOnRank(const Program &P, const ValuesT &Values) {
  for (const Value *V : Values) {
    const int I = V->Type.indexOf(DimKind::Expert);
    const auto Dim = static_cast<size_t>(std::max(I, 0));
    if (I < 0 || isSpread(P, V->Type.Dims[Dim]))
      continue;
    int64_t Ranks = 1;
    for (const Axis A : axesSplitting(P, V->Type, V->Layout, Dim))
      Ranks *= P.Mesh[A];
    return static_cast<double>(P.Sizes.value(V->Type.Dims[Dim].Size) / Ranks);
  }
  return 1;
}

/// Of m k, k n and m n elements, m is the root of m k x m n / k n.
ProductShape foretrace::productShapeOf(const Program &P, const Block &B,
                                       const Op &O) {
  const Value &Left = B.Values[O.Operands[0]], &Right = B.Values[O.Operands[1]],
              &Out = B.Values[O.Results.front()];
  ProductShape S;
  S.Operand = Left.Type.Element;
  S.Result = Out.Type.Element;
  S.IsOfWeight = O.Derivative == Derivative::Param;
  S.IsGrouped = isGrouped(B, O);
  S.Groups = S.IsGrouped ? expertsOnRank(P, valuesOf(B, O)) : 1;
  const double OfLeft = elementsOf(P, Left) / S.Groups,
               OfRight = elementsOf(P, Right) / S.Groups,
               OfOut = elementsOf(P, Out) / S.Groups;
  S.M = std::sqrt(OfLeft / OfRight * OfOut);
  S.N = OfOut / S.M;
  S.K = OfLeft / S.M;
  return S;
}

/// Returns the tokens of a sample in dimension \p Kind of \p V on the rank, or
/// those of the job's text.
static double tokensOf(const Program &P, const Value &V, DimKind Kind) {
  const int I = V.Type.indexOf(Kind);
  if (I < 0)
    return static_cast<double>(*P.Spec.Train.Sequence);
  const auto Dim = static_cast<size_t>(I);
  int64_t Ranks = 1;
  for (const Axis A : axesSplitting(P, V.Type, V.Layout, Dim))
    Ranks *= P.Mesh[A];
  return static_cast<double>(P.Sizes.value(V.Type.Dims[Dim].Size) / Ranks);
}

/// Returns the samples of a micro-batch of one replica.
static double samplesOf(const Program &P, const Value &V) {
  const int I = V.Type.indexOf(DimKind::Batch);
  return I < 0 ? 1
               : static_cast<double>(
                     P.Sizes.value(V.Type.Dims[static_cast<size_t>(I)].Size));
}

AttentionShape foretrace::attentionShapeOf(const Program &P, const Block &B,
                                           const Op &O) {
  const Op &Forward = forwardOf(B, O);
  const Value &Query = B.Values[Forward.Operands[0]],
              &Key = B.Values[Forward.Operands[1]],
              &Context = B.Values[Forward.Results.front()];
  AttentionShape S;
  S.IsBackward = O.Derivative != Derivative::None;
  S.Batch = samplesOf(P, Query);
  S.Queries = tokensOf(P, Query, DimKind::Seq);
  S.Keys = tokensOf(P, Key, DimKind::KvSeq);
  S.QueryChannels = elementsOf(P, Query) / (S.Batch * S.Queries);
  S.KeyChannels = elementsOf(P, Key) / (S.Batch * S.Keys);
  S.ContextChannels = elementsOf(P, Context) / (S.Batch * S.Queries);
  S.Heads = valueOf(P, B, &BlockSpec::Mixer, "heads") * S.QueryChannels /
            static_cast<double>(P.Sizes.value(Query.Type.Dims.back().Size));
  S.Pairs = 1;
  S.Pairs = workOnRank(P, O) / workOf(S);
  return S;
}

/// Each of the products of unfused attention is of all queries and keys.
ScoresShape KernelTimes::scoresShapeOf(const Block &B, const Op &O) const {
  const Op &Forward = forwardOf(B, O);
  const Value &Query = B.Values[Forward.Operands[0]],
              &Key = B.Values[Forward.Operands[1]],
              &Context = B.Values[Forward.Results.front()];
  return {O.Derivative != Derivative::None, *P.Spec.Train.Dropout != 0,
          tokensOf(P, Key, DimKind::KvSeq) *
              (elementsOf(P, Query) + elementsOf(P, Context)),
          elementsOf(P, *scoresOf(B, Forward))};
}

/// Returns whether a rank has several experts and sorts by them what it gets of
/// each rank (Megatron-LM, transformer/moe/token_dispatcher.py,
/// sort_chunks_by_idxs).
static bool sortsSlots(const Program &P, const Block &B) {
  const auto Params = llvm::make_filter_range(
      llvm::make_pointer_range(B.Values),
      [](const Value *V) { return V->Kind == ValueKind::Param; });
  return !B.Copies && expertsOnRank(P, Params) > 1;
}

/// Returns the bytes that are read and written to sort the slots that \p O
/// arranges or takes back. With etp they are those of all ranks that share an
/// expert.
static double sortedBytes(const Program &P, const Block &B, const Op &O) {
  const bool IsOfDispatcher =
      O.Kind == OpKind::Permute || O.Kind == OpKind::Unpermute;
  if (!IsOfDispatcher || !sortsSlots(P, B))
    return 0;
  double Most = 0;
  for (const Value *V : valuesOf(B, O))
    if (V->Type.indexOf(DimKind::Slots) >= 0)
      Most = std::max(Most, sizeInBytes(P, *V));
  return 2 * Most * static_cast<double>(P.Mesh[Axis::Etp]);
}

/// Returns whether \p O converts to a type that also has a scale of the whole
/// tensor, which follows from its maximum (nvfp4: arXiv 2509.25149).
static bool hasTensorScale(const Block &B, const Op &O) {
  return O.Kind == OpKind::Cast &&
         B.Values[O.Results.front()].Type.Element == ElementType::NVFP4;
}

/// The optimizer reads the gradients once more, for their norm.
StreamShape KernelTimes::streamShapeOf(const Block &B, const Op &O,
                                       Bytes Touched) const {
  StreamShape S{classOf(B, O), workOnRank(P, O),
                static_cast<double>(Touched.value())};
  if (S.Class == KernelClass::Optimizer)
    for (const ValueId V : O.Operands)
      S.Bytes += sizeInBytes(P, B.Values[V]);
  if (hasTensorScale(B, O))
    S.Bytes += sizeInBytes(P, B.Values[O.Operands.front()]);
  S.Bytes += sortedBytes(P, B, O);
  return S;
}

bool foretrace::needsCounts(const Program &P, const Block &B) {
  const BlockSpec *Spec = P.Spec.Model.findBlock(B.Name);
  const auto *Padded =
      Spec ? Spec->Network.find<bool>("capacity_padded") : nullptr;
  return !B.Copies &&
         (valueOf(P, B, &BlockSpec::Network, "capacity_percent") == 0 ||
          (Padded && !**Padded));
}

KernelLaws::Parameters KernelTimes::parametersOf(const Block &B,
                                                 const Op &O) const {
  const KernelClass C = classOf(B, O);
  if (C == KernelClass::Product || C == KernelClass::GroupedProduct)
    return Laws.parametersOf(productShapeOf(P, B, O), needsCounts(P, B));
  return Laws.parametersOf(C);
}

const KernelParameterInfo *KernelTimes::findMissing(const Block &B,
                                                    const Op &O) const {
  for (const KernelParameterId Of : parametersOf(B, O))
    if (!Laws.has(Of))
      return &getInfo(Of);
  return nullptr;
}

std::string KernelTimes::describe(const Block &B, const Op &O) const {
  std::string Text;
  llvm::raw_string_ostream OS(Text);
  llvm::ListSeparator Comma;
  for (const KernelParameterId Of : parametersOf(B, O))
    OS << Comma << getInfo(Of).Name << " = " << llvm::format("%g", Laws[Of]);
  if (const KernelClass C = classOf(B, O);
      C == KernelClass::Stream || C == KernelClass::Optimizer)
    if (const double More = streamShapeOf(B, O, Bytes()).Bytes; More > 0)
      OS << Comma << llvm::format("%.0f", More) << " bytes more";
  return Text;
}

Nanoseconds KernelTimes::timeOf(const Block &B, const Op &O,
                                Bytes Touched) const {
  switch (classOf(B, O)) {
  case KernelClass::Product:
  case KernelClass::GroupedProduct:
    return roundedTime(Laws.timeOf(productShapeOf(P, B, O), needsCounts(P, B)));
  case KernelClass::Attention: {
    double Arranged = 0; // elements of queries, keys and values
    for (const ValueId V : forwardOf(B, O).Operands)
      if (!isArranged(B, V))
        Arranged += elementsOf(P, B.Values[V]);
    return roundedTime(
        Laws.timeOf(attentionShapeOf(P, B, O)) +
        Laws.timeOfArranging(Arranged, O.Derivative != Derivative::None));
  }
  case KernelClass::UnfusedAttention:
    return roundedTime(Laws.timeOf(scoresShapeOf(B, O)));
  case KernelClass::Scan:
  case KernelClass::Stream:
  case KernelClass::Embedding:
  case KernelClass::Optimizer:
  case KernelClass::Fused:
    return roundedTime(Laws.timeOf(streamShapeOf(B, O, Touched)));
  }
  llvm_unreachable("every class is handled");
}
