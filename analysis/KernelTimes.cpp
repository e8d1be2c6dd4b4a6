// SPDX-License-Identifier: Apache-2.0
#include "analysis/KernelTimes.h"
#include "analysis/Analyses.h"
#include "analysis/Work.h"
#include "ir/model/OpKinds.h"
#include "llvm/ADT/STLExtras.h"

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

/// An invalid id means 0.
static RealExpr realOf(ExprScope P, ExprId Id) {
  return RealExpr(Id.isValid() ? Expr(P.Sizes, Id) : numberOf(P, 0));
}

static RealExpr elementsOf(ExprScope P, const Value &V) {
  return realOf(P, V.OnRank.Id);
}

static RealExpr sizeInBytes(ExprScope P, const Value &V) {
  return elementsOf(P, V) * static_cast<double>(getInfo(V.Type.Element).Bits) /
         8;
}

static bool isGrouped(const Block &B, const Op &Product) {
  return llvm::any_of(valuesOf(B, Product), [](const Value *V) {
    return V->Type.indexOf(DimKind::Expert) >= 0;
  });
}

static bool mayScan(const Op &O) {
  return O.Kind == OpKind::Scan || O.Kind == OpKind::Conv ||
         O.Kind == OpKind::Opaque;
}

/// Returns 1 if \p O has more FLOPs than a stream over its values.
static Expr scans(ExprScope P, const Block &B, const Op &O) {
  RealExpr Elements = realOf(P, {});
  for (const Value *V : valuesOf(B, O))
    Elements = Elements + elementsOf(P, *V);
  return isLess(2 * Elements, realOf(P, O.Work.Id));
}

KernelClass foretrace::kernelClassOf(const Program &P, const Block &B,
                                     const Op &O) {
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
    ExprOverlay Sizes(P);
    return scans(Sizes, B, O).value() ? KernelClass::Scan : KernelClass::Stream;
  }
  default:
    return KernelClass::Stream;
  }
}

/// Returns the key \p Name of a layer of \p B, or null without such a key.
static const Located<int64_t> *findKey(const Program &P, const Block &B,
                                       LayerUse BlockSpec::*Layer,
                                       llvm::StringRef Name) {
  const BlockSpec *Of = P.Spec.Model.findBlock(B.Name);
  return Of ? (Of->*Layer).find<int64_t>(Name) : nullptr;
}

/// Returns the extent of dimension \p Dim of \p V on a rank.
static RealExpr extentOf(ExprScope P, const Value &V, size_t Dim) {
  return RealExpr(floorDiv(
      Expr(P.Sizes, V.Type.Dims[Dim].Size),
      sizeOf(P, axesSplitting(*P.operator->(), V.Type, V.Layout, Dim))));
}

/// Returns the experts of a rank that are a dimension of one of \p Values, or 1
/// if no value has one.
template <typename ValuesT>
static RealExpr expertsOnRank(ExprScope P, const ValuesT &Values) {
  for (const Value *V : Values) {
    const int I = V->Type.indexOf(DimKind::Expert);
    const auto Dim = static_cast<size_t>(std::max(I, 0));
    if (I >= 0 && !isSpread(P, V->Type.Dims[Dim]))
      return extentOf(P, *V, Dim);
  }
  return {P.Sizes, P.Sizes.real(1)};
}

/// With m k, k n and m n elements, m is the square root of m k x m n / k n.
ProductShapeOf<RealExpr> foretrace::productShapeOf(ExprScope P, const Block &B,
                                                   const Op &O) {
  const Value &Left = B.Values[O.Operands[0]], &Right = B.Values[O.Operands[1]],
              &Out = B.Values[O.Results.front()];
  const bool IsOfGroups = isGrouped(B, O);
  const RealExpr Groups =
      IsOfGroups ? named(KeyId::LawGroups, expertsOnRank(P, valuesOf(B, O)))
                 : RealExpr(P.Sizes, P.Sizes.real(1));
  const RealExpr OfLeft = elementsOf(P, Left) / Groups,
                 OfRight = elementsOf(P, Right) / Groups,
                 OfOut = elementsOf(P, Out) / Groups;
  const RealExpr M = named(KeyId::LawRows, sqrt(OfLeft / OfRight * OfOut));
  return {Left.Type.Element,
          Out.Type.Element,
          O.Derivative == Derivative::Param,
          IsOfGroups,
          Groups,
          M,
          named(KeyId::LawColumns, OfOut / M),
          named(KeyId::LawInner, OfLeft / M),
          P->Spec.Serve ? std::optional(Right.Type.Element) : std::nullopt};
}

/// Returns the tokens of a sample in dimension \p Kind of \p V on the rank, or
/// those of the job's text.
static RealExpr tokensOf(ExprScope P, const Value &V, DimKind Kind) {
  const int I = V.Type.indexOf(Kind);
  return I < 0 ? RealExpr(exprOf(P, P->Spec.Train.Sequence))
               : extentOf(P, V, static_cast<size_t>(I));
}

/// Returns the samples of a micro-batch of one replica.
static RealExpr samplesOf(ExprScope P, const Value &V) {
  const int I = V.Type.indexOf(DimKind::Batch);
  return I < 0 ? RealExpr(P.Sizes, P.Sizes.real(1))
               : realOf(P, V.Type.Dims[static_cast<size_t>(I)].Size);
}

/// Returns the bytes of a channel in the cache.
static double bytesOfCached(CacheTypeKind T) {
  switch (T) {
  case CacheTypeKind::BF16:
  case CacheTypeKind::FP16:
    return 2;
  case CacheTypeKind::FP32:
    return 4;
  case CacheTypeKind::FP8:
    return 1;
  case CacheTypeKind::FlashMLA:
    return 656.0 / 576; // of the channels of a token
  case CacheTypeKind::NVFP4:
    return 0.5 + 1.0 / 16;
  }
  llvm_unreachable("every type is handled");
}

AttentionShapeOf<RealExpr>
foretrace::attentionShapeOf(ExprScope P, const Block &B, const Op &O) {
  const Op &Forward = forwardOf(B, O);
  const Value &Query = B.Values[Forward.Operands[0]],
              &Key = B.Values[Forward.Operands[1]],
              &Context = B.Values[Forward.Results.front()];
  const RealExpr Batch = samplesOf(P, Query),
                 Queries = tokensOf(P, Query, DimKind::Seq),
                 Keys = tokensOf(P, Key, DimKind::KvSeq);
  const RealExpr QueryChannels =
      named(KeyId::LawQueryChannels, elementsOf(P, Query) / (Batch * Queries));
  const Located<int64_t> *Heads = findKey(P, B, &BlockSpec::Mixer, "heads");
  AttentionShapeOf<RealExpr> S = {
      O.Derivative != Derivative::None,
      Batch,
      Queries,
      Keys,
      Batch.number(1),
      QueryChannels,
      elementsOf(P, Key) / (Batch * Keys),
      named(KeyId::LawContextChannels,
            elementsOf(P, Context) / (Batch * Queries)),
      (Heads ? RealExpr(exprOf(P, *Heads)) : Batch.number(0)) * QueryChannels /
          realOf(P, Query.Type.Dims.back().Size)};
  S.Pairs = named(KeyId::LawPairs, realOf(P, O.Work.Id) / workOf(S));
  if (P->Spec.Serve) {
    RealExpr Channels = S.KeyChannels;
    if (O.Operands.size() > 2)
      Channels =
          Channels + elementsOf(P, B.Values[O.Operands[2]]) / (Batch * Keys);
    S.OfCached = Channels * bytesOfCached(*P->Spec.Serve->KvPrecision);
  }
  return S;
}

/// Each of the products of unfused attention is of all queries and keys.
ScoresShapeOf<RealExpr> KernelTimes::scoresShapeOf(const Block &B,
                                                   const Op &O) const {
  const Op &Forward = forwardOf(B, O);
  const Value &Query = B.Values[Forward.Operands[0]],
              &Key = B.Values[Forward.Operands[1]],
              &Context = B.Values[Forward.Results.front()];
  return {O.Derivative != Derivative::None, *P->Spec.Train.Dropout != 0,
          tokensOf(P, Key, DimKind::KvSeq) *
              (elementsOf(P, Query) + elementsOf(P, Context)),
          elementsOf(P, *scoresOf(B, Forward))};
}

/// Returns the bytes that are read and written to sort the slots that \p O
/// arranges, or restores, if a rank has several experts and sorts by them the
/// slots that it receives from each rank (Megatron-LM,
/// transformer/moe/token_dispatcher.py, sort_chunks_by_idxs). With etp these
/// are from all ranks that share an expert.
static RealExpr sortedBytes(ExprScope P, const Block &B, const Op &O) {
  const RealExpr Zero = {P.Sizes, P.Sizes.real(0)};
  const bool IsOfDispatcher =
      O.Kind == OpKind::Permute || O.Kind == OpKind::Unpermute;
  if (!IsOfDispatcher || B.Copies)
    return Zero;
  RealExpr Most = Zero;
  for (const Value *V : valuesOf(B, O))
    if (V->Type.indexOf(DimKind::Slots) >= 0)
      Most = max(Most, sizeInBytes(P, *V));
  const auto Params = llvm::make_filter_range(
      llvm::make_pointer_range(B.Values),
      [](const Value *V) { return V->Kind == ValueKind::Param; });
  return named(KeyId::LawSorted,
               select(isLess(Zero.number(1), expertsOnRank(P, Params)),
                      2 * Most * RealExpr(sizeOf(P, Axis::Etp)), Zero));
}

/// Returns whether \p O converts to a type that also has a scale of the whole
/// tensor, which follows from its maximum (nvfp4: arXiv 2509.25149).
static bool hasTensorScale(const Block &B, const Op &O) {
  return O.Kind == OpKind::Cast &&
         B.Values[O.Results.front()].Type.Element == ElementType::NVFP4;
}

/// The optimizer reads the gradients once more, for their norm.
StreamShapeOf<RealExpr> KernelTimes::streamShapeOf(KernelClass C,
                                                   const Block &B, const Op &O,
                                                   ByteExpr Touched) const {
  RealExpr Moved = realOf(P, Touched.Id);
  if (C == KernelClass::Optimizer)
    for (const ValueId V : O.Operands)
      Moved = Moved + sizeInBytes(P, B.Values[V]);
  if (hasTensorScale(B, O))
    Moved = Moved + sizeInBytes(P, B.Values[O.Operands.front()]);
  return {C, realOf(P, O.Work.Id),
          named(KeyId::LawBytes, Moved + sortedBytes(P, B, O))};
}

bool foretrace::needsCounts(const Program &P, const Block &B) {
  const BlockSpec *Spec = P.Spec.Model.findBlock(B.Name);
  const auto *Padded =
      Spec ? Spec->Network.find<bool>("capacity_padded") : nullptr;
  const Located<int64_t> *Capacity =
      findKey(P, B, &BlockSpec::Network, "capacity_percent");
  return !B.Copies && (!Capacity || **Capacity == 0 || (Padded && !**Padded));
}

LawParameterIds KernelTimes::parametersOf(const Block &B, const Op &O) const {
  const KernelClass C = kernelClassOf(P, B, O);
  if (C == KernelClass::Product || C == KernelClass::GroupedProduct)
    return Laws.parametersOf(productShapeOf(P, B, O), needsCounts(P, B));
  return Laws.parametersOf(C);
}

const KernelParameterInfo *KernelTimes::findMissing(const Block &B,
                                                    const Op &O) const {
  for (const KernelParameterId Of : parametersOf(B, O))
    if (!Laws.numbers().has(Of))
      return &getInfo(Of);
  return nullptr;
}

RealExpr KernelTimes::secondsOf(const Block &B, const Op &O,
                                ByteExpr Touched) const {
  const auto Stream = [&](KernelClass C) {
    return Laws.timeOf(streamShapeOf(C, B, O, Touched));
  };
  switch (const KernelClass C = kernelClassOf(P, B, O)) {
  case KernelClass::Product:
  case KernelClass::GroupedProduct:
    return Laws.timeOf(productShapeOf(P, B, O), needsCounts(P, B));
  case KernelClass::Attention: {
    RealExpr Arranged = realOf(P, {}); // elements of queries, keys and values
    for (const ValueId V : forwardOf(B, O).Operands)
      if (!isArranged(B, V))
        Arranged = Arranged + elementsOf(P, B.Values[V]);
    return Laws.timeOf(attentionShapeOf(P, B, O)) +
           Laws.timeOfArranging(named(KeyId::LawArranged, Arranged),
                                O.Derivative != Derivative::None);
  }
  case KernelClass::UnfusedAttention:
    return Laws.timeOf(scoresShapeOf(B, O));
  case KernelClass::Scan:
  case KernelClass::Stream:
    if (mayScan(O))
      return select(scans(P, B, O), Stream(KernelClass::Scan),
                    Stream(KernelClass::Stream));
    return Stream(C);
  case KernelClass::Embedding:
  case KernelClass::Optimizer:
  case KernelClass::Fused:
    return Stream(C);
  }
  llvm_unreachable("every class is handled");
}

Expr KernelTimes::timeOf(const Block &B, const Op &O, ByteExpr Touched) const {
  return nanoseconds(secondsOf(B, O, Touched));
}

ProductShape foretrace::valuesOf(const ProductShapeOf<RealExpr> &S) {
  return {S.Operand,        S.Result,    S.IsOfWeight, S.IsGrouped,
          S.Groups.value(), S.M.value(), S.N.value(),  S.K.value()};
}

AttentionShape foretrace::valuesOf(const AttentionShapeOf<RealExpr> &S) {
  return {
      S.IsBackward,          S.Batch.value(),           S.Queries.value(),
      S.Keys.value(),        S.Pairs.value(),           S.QueryChannels.value(),
      S.KeyChannels.value(), S.ContextChannels.value(), S.Heads.value()};
}

StreamShape foretrace::valuesOf(const StreamShapeOf<RealExpr> &S) {
  return {S.Class, S.Work.value(), S.Bytes.value()};
}
