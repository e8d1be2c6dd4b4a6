// SPDX-License-Identifier: Apache-2.0
#include "ir/model/Measure.h"
#include "ir/model/OpKinds.h"
#include "ir/model/Routing.h"
#include "ir/model/Shares.h"
#include "ir/model/SpecKeys.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/ErrorHandling.h"

using namespace foretrace;
using namespace foretrace::ir;

Expr foretrace::ir::numberOf(ExprScope P, int64_t Value) {
  return {P.Sizes, P.Sizes.constant(Value)};
}

Expr foretrace::ir::exprOf(ExprScope P, const Located<int64_t> &Field) {
  return {P.Sizes, P.Sizes.key(keyOf(P->Spec, Field), Field.carried())};
}

Expr foretrace::ir::sumOf(ExprScope P, llvm::ArrayRef<ExprId> Of) {
  return {P.Sizes, P.Sizes.sum(Of)};
}

Expr foretrace::ir::productOf(ExprScope P, llvm::ArrayRef<ExprId> Of) {
  return {P.Sizes, P.Sizes.product(Of)};
}

static KeyId keyAlong(const Program &P, Axis A) {
  switch (A) {
  case Axis::Tp:
    return KeyId::ParallelTp;
  case Axis::Cp:
    return KeyId::ParallelCp;
  case Axis::Dp:
    return P.Mesh[Axis::DpReplicate] == 1 ? KeyId::ParallelDp
                                          : KeyId::ParallelDpShard;
  case Axis::Etp:
    return KeyId::ParallelEtp;
  case Axis::Ep:
    return KeyId::ParallelEp;
  case Axis::Edp:
    return KeyId::Edp;
  case Axis::DpReplicate:
    return KeyId::DpReplicate;
  case Axis::Pp:
    return KeyId::ParallelPp;
  }
  llvm_unreachable("every axis has a key");
}

/// Whether an axis is used is structure: then one rank is a constant.
Expr foretrace::ir::sizeOf(ExprScope P, Axis A) {
  const int64_t Ranks = P->Mesh[A];
  return Ranks == 1 ? numberOf(P, 1)
                    : Expr(P.Sizes, P.Sizes.key({keyAlong(P, A)}, Ranks));
}

Expr foretrace::ir::sizeOf(ExprScope P, llvm::ArrayRef<Axis> Axes) {
  llvm::SmallVector<ExprId, 4> Ranks;
  for (const Axis A : Axes)
    Ranks.push_back(sizeOf(P, A));
  return productOf(P, Ranks);
}

Expr foretrace::ir::sizeOf(ExprScope P, const Group &G) {
  return G.Members == GroupMembers::All ? sizeOf(P, G.Axes)
                                        : numberOf(P, G.size(P->Mesh));
}

/// Along these each rank has its own samples.
static constexpr Axis Replicas[] = {Axis::Dp, Axis::DpReplicate};

/// Returns whether \p D is the load of a rank's experts.
static bool isLoad(const Program &P, const Dim &D) {
  const ExprNode &Size = P.Sizes[D.Size];
  return Size.Op == ExprOp::Key && Size.Key.Id == KeyId::TrainExpertLoad;
}

bool foretrace::ir::isSpread(const Program &P, const Dim &D) {
  return D.Kind == DimKind::Expert &&
         (P.Sizes.constantAt(D.Size) == 1 || isLoad(P, D));
}

bool foretrace::ir::isLoaded(const Program &P, const TensorType &T) {
  return llvm::any_of(T.Dims, [&](const Dim &D) {
    return D.Kind == DimKind::Expert && isLoad(P, D);
  });
}

Expr foretrace::ir::slotsWithLoad(ExprScope P, Expr Even, const Dim &Spread) {
  return isLoad(P, Spread)
             ? ceilDiv(Even * Expr(P.Sizes, Spread.Size), numberOf(P, MeanLoad))
             : Even;
}

Expr foretrace::ir::withLoad(ExprScope P, Expr Of, int64_t Load) {
  const std::optional<ExprId> Leaf = P.Sizes.find({KeyId::TrainExpertLoad});
  return Leaf ? P.at(P.Sizes.replace(Of, *Leaf, P.Sizes.constant(Load))) : Of;
}

Elements foretrace::ir::extentOf(const Program &P, const Dim &D) {
  if (isSpread(P, D))
    return Elements(1);
  const Elements Extent = P.Sizes.value(ElementExpr{D.Size});
  return isOfReplica(D.Kind) ? Extent * P.Mesh.groupSize(Replicas) : Extent;
}

Bytes foretrace::ir::bytesOfAll(const Program &P, const TensorType &T) {
  Elements Count(1);
  for (const Dim &D : T.Dims) {
    const Elements Extent = extentOf(P, D);
    Count = Extent.isOverflow() ? Extent : Count * Extent.value();
  }
  return foretrace::bytesOf(Count,
                            llvm::divideCeil(getInfo(T.Element).Bits, 8));
}

AxisList foretrace::ir::axesSplitting(const Program &P, const TensorType &T,
                                      const Layout &L, size_t Dim) {
  AxisList Axes;
  if (isSpread(P, T.Dims[Dim]))
    return Axes;
  for (const Axis A : allAxes())
    if (L.isSplit(A) &&
        (L.splitDim(A) == Dim || (T.Dims[Dim].Kind == DimKind::Slots &&
                                  isSpread(P, T.Dims[L.splitDim(A)]))))
      Axes.push_back(A);
  return Axes;
}

/// Returns the extent on a rank. Each replica has its own part of a batch; a
/// batch split over more or fewer ranks is that of all.
Expr foretrace::ir::extentOnRank(ExprScope P, const Dim &D,
                                 llvm::ArrayRef<Axis> Axes) {
  const Expr Extent(P.Sizes, D.Size);
  // A step that serves may have fewer slots than there are ranks of experts.
  const bool IsFew = P->Spec.Serve && D.Kind == DimKind::Slots;
  const auto Divided = [&](Expr Of) {
    return IsFew ? ceilDiv(Of, sizeOf(P, Axes)) : Of / sizeOf(P, Axes);
  };
  if (!isOfReplica(D.Kind) || P->Mesh.groupSize(Replicas) == 1)
    return Axes.empty() ? Extent : Divided(Extent);
  if (llvm::all_of(Axes,
                   [](Axis A) { return llvm::is_contained(Replicas, A); }) &&
      P->Mesh.groupSize(Axes) == P->Mesh.groupSize(Replicas))
    return Extent;
  return Divided(Extent * sizeOf(P, Replicas));
}

Expr foretrace::ir::extentOnRank(ExprScope P, const TensorType &T,
                                 const Layout &L, size_t Dim) {
  if (isSpread(P, T.Dims[Dim]))
    return numberOf(P, 1);
  const Expr Even = extentOnRank(P, T.Dims[Dim], axesSplitting(P, T, L, Dim));
  if (T.Dims[Dim].Kind != DimKind::Slots || !L.isSplit(Axis::Ep))
    return Even;
  const ir::Dim &Split = T.Dims[L.splitDim(Axis::Ep)];
  return isSpread(P, Split) ? slotsWithLoad(P, Even, Split) : Even;
}

Expr foretrace::ir::elementsOnRank(ExprScope P, const TensorType &T,
                                   const Layout &L) {
  llvm::SmallVector<ExprId, 6> Extents;
  for (size_t I = 0; I < T.Dims.size(); ++I)
    Extents.push_back(extentOnRank(P, T, L, I));
  const Expr Count = productOf(P, Extents);
  AxisList Shared;
  for (const Axis A : allAxes())
    if (L.isFlat(A))
      Shared.push_back(A);
  return Shared.empty() ? Count : ceilDiv(Count, sizeOf(P, Shared));
}

Expr foretrace::ir::elementsOfReplica(ExprScope P, const TensorType &T) {
  llvm::SmallVector<ExprId, 6> Extents;
  for (const Dim &D : T.Dims)
    if (!isSpread(P, D))
      Extents.push_back(D.Size);
  return productOf(P, Extents);
}

Expr foretrace::ir::bytesOf(ExprScope P, Expr Count, ElementType T,
                            ScaledBlocks Of) {
  const ElementInfo &Info = getInfo(T);
  const Expr Size = Info.Bits % 8 == 0
                        ? Count * (Info.Bits / 8)
                        : ceilDiv(Count * Info.Bits, numberOf(P, 8));
  const int64_t Block =
      Of == ScaledBlocks::Weight ? Info.WeightBlock : Info.Block;
  return Block == 0
             ? Size
             : Size + ceilDiv(Count, numberOf(P, Block)) * Info.ScaleBytes;
}

ScaledBlocks foretrace::ir::blocksOf(const Value &V) {
  const bool AreShares = V.Type.indexOf(DimKind::Flat) >= 0;
  return V.Kind == ValueKind::Param || AreShares ? ScaledBlocks::Weight
                                                 : ScaledBlocks::Activation;
}

/// Returns the bytes of a scaled weight as an engine has it: 128 x 128 blocks
/// of each matrix have a scale, also those at its ends that are not whole
/// (DeepSeek-V3, arXiv 2412.19437, section 3.3.2), and other types one for the
/// matrix that is not counted elsewhere (vLLM, layers/quantization/fp8.py and
/// modelopt.py).
static Expr servedWeight(ExprScope P, const Value &V) {
  constexpr int64_t ScaleBytes = 4, Side = 128;
  const size_t Dims = V.Type.Dims.size();
  Expr Scales = numberOf(P, ScaleBytes);
  for (size_t Dim = 0; Dim < Dims; ++Dim) {
    const Expr Extent = extentOnRank(P, V.Type, V.Layout, Dim);
    const bool IsResult =
        Dim + 1 == Dims && V.Type.Element == ElementType::INT8;
    if (Dim + 2 < Dims || IsResult) // of experts, or of channels
      Scales *= Extent;
    else if (V.Type.Element == ElementType::FP8Block)
      Scales *= ceilDiv(Extent, numberOf(P, Side));
  }
  const Expr Count(P.Sizes, V.OnRank.Id);
  switch (V.Type.Element) {
  case ElementType::FP8:
  case ElementType::FP8Block:
  case ElementType::INT8:
    return Count + Scales;
  case ElementType::NVFP4:
    return bytesOf(P, Count, V.Type.Element, ScaledBlocks::Weight) + Scales;
  default:
    return bytesOf(P, Count, V.Type.Element, ScaledBlocks::Weight);
  }
}

Expr foretrace::ir::bytesOnRank(ExprScope P, const Value &V) {
  if (P->Spec.Serve && V.Kind == ValueKind::Param && isScaled(V.Type.Element) &&
      V.Type.Dims.size() >= 2)
    return servedWeight(P, V);
  return bytesOf(P, {P.Sizes, V.OnRank.Id}, V.Type.Element, blocksOf(V));
}

Expr foretrace::ir::gatheredBytes(ExprScope P, const Block &B, const Op &O) {
  const Value &V = B.Values[O.Operands[0]];
  return bytesOf(P, gatheredShareOf(P, B, V, O),
                 V.Gathered.value_or(V.Type.Element), blocksOf(V));
}

/// Shares of flat tensors are padded, so a message is made of the shares.
static Expr bytesMoved(ExprScope P, const Block &B, const Op &O) {
  const Value &From = B.Values[O.Operands[0]], &To = B.Values[O.Results[0]];
  switch (O.Kind) {
  case OpKind::AllGather:
    return gatheredBytes(P, B, O) * sizeOf(P, O.Group);
  case OpKind::ReduceScatter:
    return bytesOnRank(P, To) * sizeOf(P, O.Group);
  case OpKind::Ring: {
    const bool Reduces = From.Layout.isPartial(O.Group.Axes.front());
    return bytesOnRank(P, Reduces ? To : From) *
           (sizeOf(P, O.Group) + int64_t(-1));
  }
  case OpKind::AllToAll:
    // With uneven routing, a rank sends and receives different sizes.
    return max(bytesOnRank(P, From), bytesOnRank(P, To));
  default:
    return bytesOnRank(P, From);
  }
}

void foretrace::ir::measure(Program &P, Block &B) {
  for (Value &V : B.Values)
    V.OnRank = shareOf(P, B, V);
  for (Op &O : B.Ops)
    if (isCollective(O.Kind) && O.Operands.size() == 1 &&
        O.Results.size() == 1 && !O.Group.empty())
      O.Message = bytesMoved(P, B, O);
}
