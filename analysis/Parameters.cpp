// SPDX-License-Identifier: Apache-2.0
#include "analysis/Parameters.h"
#include "ir/model/OpKinds.h"
#include "llvm/ADT/STLExtras.h"

using namespace foretrace;
using namespace foretrace::ir;

bool foretrace::areExpertsApart(const Program &P) {
  const ParallelSpec &Par = P.Spec.Parallel;
  return *Par.Zero > 1 || P.Mesh[Axis::Ep] > 1 ||
         (*Par.Megatron >= MegatronVersion::V0_19 &&
          P.Mesh[Axis::Etp] != P.Mesh[Axis::Tp]);
}

AxisList foretrace::shareAxes(const Program &P, const TensorType &T) {
  // With etp = tp, edp has the ranks of cp and dp.
  const bool IsOverEdp =
      T.isOfExperts() &&
      (P.Mesh[Axis::Etp] == P.Mesh[Axis::Tp] || areExpertsApart(P));
  AxisList Shared =
      IsOverEdp ? AxisList{Axis::Edp} : AxisList{Axis::Cp, Axis::Dp};
  llvm::erase_if(Shared, [&](Axis A) { return P.Mesh[A] == 1; });
  return Shared;
}

bool foretrace::isStored(const Value &V, TiedHead At) {
  return V.Kind == ValueKind::Param && !V.Alias &&
         !(V.Tied && At == TiedHead::BesideEmbedding);
}

bool foretrace::isPublished(const Value &V) {
  return isStored(V, TiedHead::BesideEmbedding) && !V.Copy;
}

bool foretrace::isMatrix(const Value &V) {
  const bool IsOfExperts = V.Type.indexOf(DimKind::Expert) >= 0;
  return V.Kind == ValueKind::Param &&
         V.Type.Dims.size() == (IsOfExperts ? 3U : 2U) &&
         V.Type.indexOf(DimKind::Vocab) < 0 &&
         V.Type.indexOf(DimKind::Position) < 0;
}

ElementType foretrace::nominalType(const Program &P, const Value &V) {
  const ElementType T = V.Gathered.value_or(V.Type.Element);
  return isScaled(T) ? elementTypeOf(*P.Spec.Train.Precision) : T;
}

bool foretrace::isBuffer(const Table<OpId, Op> &Ops, ValueId V) {
  return llvm::any_of(Ops, [V](const Op &O) {
    return O.Kind == OpKind::Route && O.Derivative == Derivative::None &&
           llvm::is_contained(llvm::ArrayRef(O.Operands).drop_front(), V);
  });
}

Expr foretrace::unsharedElements(ExprScope P, const Value &V) {
  Layout L = V.Layout;
  for (Axis A : allAxes())
    if (L.isFlat(A))
      L.setWhole(A);
  return elementsOnRank(P, V.Type, L);
}

Expr foretrace::publishedSize(ExprScope P, const Value &V) {
  TensorType T = V.Type;
  if (const int I = T.indexOf(DimKind::Vocab); I >= 0)
    T.Dims[static_cast<size_t>(I)].Size = exprOf(P, P->Spec.Model.Vocab);
  return elementsOnRank(P, T, Layout());
}

/// Returns the slots of the experts with the parameter \p V, which an op reads
/// with it, or makes of it, or of what ZeRO 3 gathers of it.
static std::optional<Expr> slotsOf(ExprScope P, const Block &B,
                                   const Value &V) {
  auto IsThis = [&](ValueId Read) { return &B.Values[Read] == &V; };
  for (const Op &O : B.Ops) {
    if (llvm::none_of(O.Operands, IsThis))
      continue;
    for (const ValueId Also :
         llvm::concat<const ValueId>(O.Operands, O.Results)) {
      const TensorType &Of = B.Values[Also].Type;
      if (const int I = Of.indexOf(DimKind::Slots); I >= 0)
        return Expr(P.Sizes, Of.Dims[static_cast<size_t>(I)].Size);
    }
    if (O.Kind == OpKind::AllGather)
      if (const auto Slots = slotsOf(P, B, B.Values[O.Results.front()]))
        return Slots;
  }
  return std::nullopt;
}

Expr foretrace::activatedSize(ExprScope P, const Block &B, const Value &V) {
  const Expr Published = publishedSize(P, V);
  const int I = V.Type.indexOf(DimKind::Expert);
  if (I < 0)
    return Published;
  const std::optional<Expr> Slots = slotsOf(P, B, V);
  if (!Slots)
    return Published;
  const TrainSpec &T = P->Spec.Train;
  const Expr Each =
      Published / Expr(P.Sizes, V.Type.Dims[static_cast<size_t>(I)].Size);
  const Expr Tokens = exprOf(P, T.Sequence) * exprOf(P, T.MicroBatch);
  // A capacity rounds slots: a token has a share of one in the mean.
  return floorDiv(Each * *Slots, Tokens);
}
