// SPDX-License-Identifier: Apache-2.0
//
// Arithmetic and memory traffic of ops.

#include "passes/analyses/Analyses.h"
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
  };
  llvm::SmallVector<Extent, 6> Extents;

  AxisList axesOf(const Extent &E) const;
  void add(const Program &P, const Value &V) {
    for (const auto &[Index, D] : llvm::enumerate(V.Type.Dims)) {
      auto *It = llvm::find_if(
          Extents, [K = D.Kind](const Extent &E) { return E.Of.Kind == K; });
      if (It == Extents.end()) {
        Extents.push_back({D, {}});
        It = std::prev(Extents.end());
      }
      if (P.Sizes.constantAt(D.Size) == 1)
        It->Of = D;
      for (Axis A : allAxes())
        if (V.Layout.isSplit(A) && V.Layout.splitDim(A) == Index &&
            !llvm::is_contained(It->Axes, A))
          It->Axes.push_back(A);
    }
  }
};

/// The ranks over which a dimension is spread; those of experts that stand for
/// all have their slots.
AxisList IterationSpace::axesOf(const Extent &E) const {
  AxisList Axes = E.Of.Kind == DimKind::Expert ? AxisList() : E.Axes;
  if (E.Of.Kind == DimKind::Slots)
    for (const Extent &Other : Extents)
      if (Other.Of.Kind == DimKind::Expert)
        Axes.append(Other.Axes);
  return Axes;
}

} // namespace

/// What an op takes and makes.
static llvm::SmallVector<const Value *, 8> valuesOf(const Block &B,
                                                    const Op &O) {
  llvm::SmallVector<const Value *, 8> Values;
  for (ValueId V : O.Operands)
    Values.push_back(&B.Values[V]);
  for (ValueId V : O.Results)
    Values.push_back(&B.Values[V]);
  return Values;
}

/// 2 FLOPs for each point of the iteration space of a contraction.
static Expr contractionWork(Program &P, const Block &B, const Op &O) {
  IterationSpace Space;
  for (const Value *V : valuesOf(B, O))
    Space.add(P, *V);
  llvm::SmallVector<ExprId, 8> Extents = {P.Sizes.constant(2)};
  for (const IterationSpace::Extent &E : Space.Extents)
    Extents.push_back(extentOnRank(P, E.Of, Space.axesOf(E)));
  return productOf(P, Extents);
}

/// Scores and context, 2 FLOPs per multiply-add each, half of them masked by
/// causality; twice that backward (Megatron-LM, num_floating_point_operations).
static Expr attentionWork(Program &P, const Block &B, const Op &O) {
  const Value *Context = nullptr;
  const Value *Query = nullptr;
  for (const Value *V : valuesOf(B, O)) {
    if (V->Type.indexOf(DimKind::Seq) < 0 ||
        V->Type.indexOf(DimKind::KvSeq) >= 0) // the softmax
      continue;
    (Query ? Context : Query) = V;
  }
  if (!Query || !Context)
    return numberOf(P, NoValue);
  const Expr Channels =
      Expr(P.Sizes, Query->OnRank.Id) + Expr(P.Sizes, Context->OnRank.Id);
  const int64_t Passes = O.Derivative == Derivative::None ? 1 : 2;
  return Channels * Expr(P.Sizes, Query->Type.Dims[0].Size) * Passes;
}

void foretrace::countWork(Program &P, Block &B) {
  llvm::SmallVector<ExprId, 64> Sum;
  for (Op &O : B.Ops) {
    if (O.Kind == OpKind::MatMul)
      O.Work = contractionWork(P, B, O);
    else if (O.Kind == OpKind::Attention)
      O.Work = attentionWork(P, B, O);
    else
      continue; // bound by memory
    Sum.push_back(O.Work.Id);
  }
  B.Totals.Work = sumOf(P, Sum);
}

/// Rows of the table, once for each token: read and written forward, the
/// gradient's read and added to backward.
static Expr embedBytes(Program &P, const Block &B, const Op &O) {
  const bool IsBackward = O.Derivative != Derivative::None;
  const Value &Rows = B.Values[IsBackward ? O.Operands[1] : O.Results[0]];
  const Value &Table = B.Values[IsBackward ? O.Results[0] : O.Operands[1]];
  const Expr InTable =
      Expr(P.Sizes, Rows.OnRank.Id) * bytesPerElement(Table.Type.Element);
  return bytesOnRank(P, B.Values[O.Operands[0]]) + bytesOnRank(P, Rows) +
         InTable * (IsBackward ? 2 : 1);
}

Expr foretrace::touchedBytes(Program &P, const Block &B, const Op &O) {
  if (isView(O.Kind) || isOpaque(O.Kind))
    return numberOf(P, 0);
  if (O.Kind == OpKind::Embed)
    return embedBytes(P, B, O);
  llvm::SmallVector<ExprId, 8> Touched;
  for (const Value *V : valuesOf(B, O))
    Touched.push_back(bytesOnRank(P, *V));
  if (O.Kind != OpKind::Optimizer)
    return sumOf(P, Touched);
  for (ValueId V : O.Operands)
    Touched.push_back(Expr(P.Sizes, B.Values[V].OnRank.Id) *
                      (2 * optimizerBytes(P.Spec.Train)));
  if (*P.Spec.Train.Precision == PrecisionKind::FP32) // read as well as written
    for (ValueId V : O.Results)
      Touched.push_back(bytesOnRank(P, B.Values[V]));
  return sumOf(P, Touched);
}
