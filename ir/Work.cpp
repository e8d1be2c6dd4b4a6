// SPDX-License-Identifier: Apache-2.0
#include "ir/Work.h"
#include "ir/Memory.h"
#include "llvm/ADT/STLExtras.h"

using namespace foretrace;
using namespace foretrace::ir;

namespace {

/// Extent on one rank of each kind of dimension that occurs in an op: what all
/// operands and results agree on. An expert counts once per slot.
struct LocalExtents {
  struct Extent {
    DimKind Kind;
    int64_t Size;
    AxisList Axes;
  };
  llvm::SmallVector<Extent, 6> Extents;

  void add(const Value &V) {
    for (const auto &[Index, D] : llvm::enumerate(V.Type.Dims)) {
      auto It = llvm::find_if(
          Extents, [K = D.Kind](const Extent &E) { return E.Kind == K; });
      if (It == Extents.end()) {
        Extents.push_back({D.Kind, D.Size, {}});
        It = std::prev(Extents.end());
      }
      It->Size = std::min(It->Size, D.Size);
      for (Axis A : allAxes())
        if (V.Layout.isSplit(A) && V.Layout.splitDim(A) == Index &&
            !llvm::is_contained(It->Axes, A))
          It->Axes.push_back(A);
    }
  }
};

} // namespace

/// 2 FLOPs for each point of the iteration space of a contraction.
static Flops contractionWork(const Block &B, const Op &O, const Mesh &M) {
  LocalExtents E;
  for (ValueId V : O.Operands)
    E.add(B.Values[V]);
  for (ValueId V : O.Results)
    E.add(B.Values[V]);
  Flops Work(2);
  int64_t Ranks = 1;
  for (const LocalExtents::Extent &X : E.Extents) {
    Work = Work * X.Size;
    Ranks *= M.groupSize(X.Axes);
  }
  return Work.isOverflow() ? Work : Flops(Work.value() / Ranks);
}

/// Scores and context, 2 FLOPs per multiply-add each, half of them masked by
/// causality; twice that backward (Megatron-LM, num_floating_point_operations).
static Flops attentionWork(const Block &B, const Op &O, const Mesh &M) {
  const Value *Context = nullptr;
  const Value *Query = nullptr;
  for (llvm::ArrayRef<ValueId> Values : {llvm::ArrayRef<ValueId>(O.Operands),
                                         llvm::ArrayRef<ValueId>(O.Results)})
    for (ValueId V : Values) {
      const Value &Val = B.Values[V];
      if (Val.Type.indexOf(DimKind::Seq) < 0 ||
          Val.Type.indexOf(DimKind::KvSeq) >= 0) // the softmax
        continue;
      (Query ? Context : Query) = &Val;
    }
  if (!Query || !Context)
    return Flops::overflow();
  int64_t Seq = Query->Type.Dims[0].Size;
  Elements Channels = elementsPerRank(*Query, M) + elementsPerRank(*Context, M);
  int64_t Passes = O.Derivative == Derivative::None ? 1 : 2;
  Elements Total = Channels * Seq * Passes;
  return Total.isOverflow() ? Flops::overflow() : Flops(Total.value());
}

Flops foretrace::ir::workOf(const Block &B, const Op &O, const Mesh &M) {
  switch (O.Kind) {
  case OpKind::MatMul:
    return contractionWork(B, O, M);
  case OpKind::Attention:
    return attentionWork(B, O, M);
  default:
    return {}; // bound by memory
  }
}

/// Rows of the table, once for each token: read and written forward, the
/// gradient's read and added to backward.
static Bytes embedBytes(const Program &P, const Block &B, const Op &O) {
  const bool IsBackward = O.Derivative != Derivative::None;
  const Value &Rows = B.Values[IsBackward ? O.Operands[1] : O.Results[0]];
  const Value &Table = B.Values[IsBackward ? O.Results[0] : O.Operands[1]];
  const Bytes InTable = bytesOf(elementsPerRank(Rows, P.Mesh),
                                bytesPerElement(Table.Type.Element));
  return bytesPerRank(B.Values[O.Operands[0]], P.Mesh) +
         bytesPerRank(Rows, P.Mesh) + InTable * (IsBackward ? 2 : 1);
}

Bytes foretrace::ir::touchedBytes(const Program &P, const Block &B,
                                  const Op &O) {
  if (isView(O.Kind) || isOpaque(O.Kind))
    return {};
  if (O.Kind == OpKind::Embed)
    return embedBytes(P, B, O);
  Bytes Touched;
  for (llvm::ArrayRef<ValueId> Values : {llvm::ArrayRef<ValueId>(O.Operands),
                                         llvm::ArrayRef<ValueId>(O.Results)})
    for (ValueId V : Values)
      Touched += bytesPerRank(B.Values[V], P.Mesh);
  if (O.Kind != OpKind::Optimizer)
    return Touched;
  for (ValueId V : O.Operands)
    Touched += bytesOf(elementsPerRank(B.Values[V], P.Mesh),
                       2 * optimizerBytes(P.Spec.Train));
  if (*P.Spec.Train.Precision == PrecisionKind::FP32) // read as well as written
    for (ValueId V : O.Results)
      Touched += bytesPerRank(B.Values[V], P.Mesh);
  return Touched;
}
