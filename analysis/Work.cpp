// SPDX-License-Identifier: Apache-2.0
#include "analysis/Work.h"
#include "analysis/LayerCounts.h"
#include "ir/model/Routing.h"
#include "llvm/ADT/STLExtras.h"

using namespace foretrace;
using namespace foretrace::ir;

namespace {

/// The dimensions that the operands and results of an op have, and the axes
/// that split them anywhere. An expert counts once per slot.
struct IterationSpace {
  struct Extent {
    Dim Of;
    AxisList Axes;
    std::ptrdiff_t Nth; ///< of those in a tensor that are equal
  };
  llvm::SmallVector<Extent, 6> Extents;

  /// A weight that has a dimension twice, if there is one: extents of that kind
  /// are told apart by their sizes.
  DimKind Twice = DimKind::Flat;

  AxisList axesOf(const Extent &E) const;
  Expr extentOf(ExprScope P, const Extent &E, WorkOf Of) const;
  /// Extents are equal if their values are: a weight from one width to another
  /// may have the same number twice.
  static bool isEqual(const Program &P, const Dim &A, const Dim &B) {
    return A.Kind == B.Kind &&
           (A.Size == B.Size || P.Sizes.value(A.Size) == P.Sizes.value(B.Size));
  }
  bool isSame(const Program &P, const Extent &E, const Dim &D,
              std::ptrdiff_t Nth) const {
    if (E.Of.Kind != D.Kind || D.Kind != Twice)
      return E.Of.Kind == D.Kind;
    return E.Nth == Nth && isEqual(P, E.Of, D);
  }
  void add(const Program &P, const Value &V) {
    for (const auto &[Index, D] : llvm::enumerate(V.Type.Dims)) {
      const auto Nth = llvm::count_if(
          llvm::ArrayRef(V.Type.Dims).take_front(Index),
          [&, &D = D](const Dim &Other) { return isEqual(P, Other, D); });
      auto *It = llvm::find_if(Extents, [&, &D = D](const Extent &E) {
        return isSame(P, E, D, Nth);
      });
      if (It == Extents.end()) {
        Extents.push_back({D, {}, Nth});
        It = std::prev(Extents.end());
      }
      if (isSpread(P, D))
        It->Of = D;
      for (Axis A : allAxes())
        if (V.Layout.isSplit(A) && V.Layout.splitDim(A) == Index &&
            !llvm::is_contained(It->Axes, A))
          It->Axes.push_back(A);
    }
  }
};

/// Returns the axes over which a dimension is spread. Those of experts are
/// those of their slots instead.
AxisList IterationSpace::axesOf(const Extent &E) const {
  AxisList Axes = E.Of.Kind == DimKind::Expert ? AxisList() : E.Axes;
  if (E.Of.Kind == DimKind::Slots)
    for (const Extent &Other : Extents)
      if (Other.Of.Kind == DimKind::Expert)
        Axes.append(Other.Axes);
  return Axes;
}

Expr IterationSpace::extentOf(ExprScope P, const Extent &E, WorkOf Of) const {
  if (isSpread(P, E.Of))
    return numberOf(P, 1);
  if (Of == WorkOf::Replica)
    return {P.Sizes, E.Of.Size};
  Expr OnRank = extentOnRank(P, E.Of, axesOf(E));
  if (E.Of.Kind == DimKind::Slots)
    for (const Extent &Other : Extents)
      if (isSpread(P, Other.Of) && llvm::is_contained(Other.Axes, Axis::Ep))
        OnRank = slotsWithLoad(P, OnRank, Other.Of);
  return OnRank;
}

} // namespace

llvm::SmallVector<const Value *, 8> foretrace::valuesOf(const Block &B,
                                                        const Op &O) {
  llvm::SmallVector<const Value *, 8> Values;
  for (ValueId V : O.Operands)
    Values.push_back(&B.Values[V]);
  for (ValueId V : O.Results)
    Values.push_back(&B.Values[V]);
  return Values;
}

__int128 foretrace::workOfAllRanks(ExprScope P) {
  __int128 Sum = 0;
  for (const Stage &S : P->Stages)
    Sum += static_cast<__int128>(
               withLoad(P, P.at(S.Totals.Work), MeanLoad).value()) *
           S.Count * ranksOfStage(P);
  return Sum;
}

/// Returns the elements of \p V on a rank or in a replica.
static Expr elementsOf(ExprScope P, const Value &V, WorkOf Of) {
  return Of == WorkOf::Rank ? Expr(P.Sizes, V.OnRank.Id)
                            : elementsOfReplica(P, V.Type);
}

/// 2 FLOPs for each point of the iteration space of a contraction.
static Expr contractionWork(ExprScope P, const Block &B, const Op &O,
                            WorkOf Of) {
  IterationSpace Space;
  for (const Value *V : valuesOf(B, O))
    for (const auto &[I, D] : llvm::enumerate(V->Type.Dims))
      if (V->Type.indexOf(D.Kind) != static_cast<int>(I))
        Space.Twice = D.Kind;
  for (const Value *V : valuesOf(B, O))
    Space.add(P, *V);
  llvm::SmallVector<ExprId, 8> Extents = {P.Sizes.constant(2)};
  for (const IterationSpace::Extent &E : Space.Extents)
    Extents.push_back(Space.extentOf(P, E, Of));
  return productOf(P, Extents);
}

namespace {
/// The query and the result of attention, or their gradients.
struct Attended {
  const Value *Query = nullptr, *Context = nullptr;
};
} // namespace

static Attended attendedBy(const Block &B, const Op &O) {
  const Op &Forward = O.Derivative == Derivative::None ? O : B.Ops[O.For];
  return {&B.Values[Forward.Operands.front()],
          &B.Values[Forward.Results.front()]};
}

/// Forward has one product of queries with keys and one of scores with values,
/// backward two for each (Megatron-LM, num_floating_point_operations).
static int64_t passesOf(const Op &O) {
  return O.Derivative == Derivative::None ? 1 : 2;
}

Expr foretrace::halfOfScores(ExprScope P, const Block &B, const Op &O,
                             WorkOf Of) {
  const auto [Query, Context] = attendedBy(B, O);
  if (!Query || !Context)
    return numberOf(P, NoValue);
  return (elementsOf(P, *Query, Of) + elementsOf(P, *Context, Of)) *
         Expr(P.Sizes, Query->Type.Dims[0].Size) * passesOf(O);
}

/// 2 FLOPs for each stated pair and each channel of queries and results. The
/// pairs of a sample are divided evenly among ranks that split its queries.
static Expr statedScores(ExprScope P, const Block &B, const Op &O, WorkOf Of) {
  const auto [Query, Context] = attendedBy(B, O);
  if (!Query || !Context)
    return numberOf(P, NoValue);
  const size_t Seq = static_cast<size_t>(Query->Type.indexOf(DimKind::Seq));
  const Expr All(P.Sizes, Query->Type.Dims[Seq].Size);
  const Expr Own = Of == WorkOf::Rank
                       ? extentOnRank(P, Query->Type, Query->Layout, Seq)
                       : All;
  const Expr Pairs = Expr(P.Sizes, O.Stated) * 2;
  return (elementsOf(P, *Query, Of) / Own + elementsOf(P, *Context, Of) / Own) *
         (ExprId(Own) == ExprId(All) ? Pairs : ceilDiv(Pairs * Own, All)) *
         passesOf(O);
}

static std::optional<Expr> attentionWork(ExprScope P, const Block &B,
                                         const Op &O, WorkOf Of) {
  if (O.Derivative == Derivative::Param)
    return std::nullopt; // a sum over tokens
  return O.Stated.isValid() ? statedScores(P, B, O, Of)
                            : halfOfScores(P, B, O, Of);
}

/// The stated rate for each element of the first result of the forward op.
static std::optional<Expr> statedWork(ExprScope P, const Block &B, const Op &O,
                                      WorkOf Of) {
  if (O.Derivative == Derivative::Param || !O.Stated.isValid())
    return std::nullopt; // a sum over tokens
  const Value &Made =
      B.Values[O.Derivative == Derivative::None ? O.Results.front()
                                                : O.Operands.front()];
  return elementsOf(P, Made, Of) * Expr(P.Sizes, O.Stated) * passesOf(O);
}

WorkKind foretrace::workKindOf(const Block &B, const Op &O) {
  if (getInfo(O.Kind).Work == WorkRule::Scores)
    return WorkKind::Scores;
  return llvm::any_of(valuesOf(B, O),
                      [](const Value *V) {
                        return V->Type.indexOf(DimKind::Router) >= 0;
                      })
             ? WorkKind::Router
             : WorkKind::Product;
}

std::optional<Expr> foretrace::workOf(ExprScope P, const Block &B, const Op &O,
                                      WorkOf Of) {
  switch (getInfo(O.Kind).Work) {
  case WorkRule::Product:
    return contractionWork(P, B, O, Of);
  case WorkRule::Scores:
    return attentionWork(P, B, O, Of);
  case WorkRule::Stated:
    return statedWork(P, B, O, Of);
  case WorkRule::Kept:
  case WorkRule::Held:
  case WorkRule::None:
  case WorkRule::Rows:
    return std::nullopt;
  }
  llvm_unreachable("every rule is handled");
}
