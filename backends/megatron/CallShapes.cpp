// SPDX-License-Identifier: Apache-2.0
#include "backends/megatron/CallShapes.h"
#include "ir/model/Measure.h"
#include "llvm/ADT/STLExtras.h"

using namespace foretrace;
using namespace foretrace::megatron;
using ir::DimKind;

/// Returns the extent of dimension \p Dim on one rank.
static ir::Expr localExtent(ir::ExprScope P, const ir::TensorType &T,
                            const ir::Layout &L, size_t Dim) {
  ir::AxisList Axes;
  for (ir::Axis A : ir::allAxes())
    if (L.isSplit(A) && L.splitDim(A) == Dim)
      Axes.push_back(A);
  return extentOnRank(P, T.Dims[Dim], Axes);
}

Extents foretrace::megatron::localExtents(ir::ExprScope P,
                                          const ir::TensorType &T,
                                          const ir::Layout &L) {
  Extents Sizes;
  for (size_t I = 0; I < T.Dims.size(); ++I)
    Sizes.emplace_back(localExtent(P, T, L, I));
  return Sizes;
}

namespace {

/// The extents of a value on one rank.
class LocalDims {
public:
  LocalDims(ir::ExprScope P, const ir::Value &V) : P(P), V(V) {}

  ir::Expr operator[](DimKind K) const {
    const int Index = V.Type.indexOf(K);
    assert(Index >= 0 && "a call of a value without that dimension");
    return localExtent(P, V.Type, V.Layout, static_cast<size_t>(Index));
  }

private:
  ir::ExprScope P;
  const ir::Value &V;
};

} // namespace

/// The dimensions a shape is made of.
static llvm::ArrayRef<DimKind> dimsOf(CallShape S) {
  static constexpr DimKind Stream[] = {DimKind::Seq, DimKind::Batch,
                                       DimKind::Hidden};
  static constexpr DimKind Positions[] = {DimKind::Seq, DimKind::Batch};
  static constexpr DimKind Router[] = {DimKind::Router};
  static constexpr DimKind Scores[] = {DimKind::Seq, DimKind::Batch,
                                       DimKind::Router};
  static constexpr DimKind Slots[] = {DimKind::Slots, DimKind::Hidden};
  static constexpr DimKind Choices[] = {DimKind::Slots, DimKind::Router};
  switch (S) {
#define CALL_SHAPE(ENUMERATOR, DIMS, ...)                                      \
  case CallShape::ENUMERATOR:                                                  \
    return DIMS;
#include "backends/megatron/CallShapes.def"
  }
  llvm_unreachable("every shape is handled");
}

/// The first value of \p O that has the dimensions of \p S.
static const ir::Value &subjectOf(CallShape S, const ir::Block &B,
                                  const ir::Op &O) {
  auto Has = [&](ir::ValueId V) {
    return llvm::all_of(
        dimsOf(S), [&](DimKind K) { return B.Values[V].Type.indexOf(K) >= 0; });
  };
  const auto *Found = llvm::find_if(O.Operands, Has);
  if (Found != O.Operands.end())
    return B.Values[*Found];
  const auto *Made = llvm::find_if(O.Results, Has);
  assert(Made != O.Results.end() && "a call of no value of its op");
  return B.Values[*Made];
}

/// \p SplitOver ranks of tp share the channels, or the tokens, of experts.
static Extents shapeOf(CallShape S, const LocalDims &D, ir::Expr Tp,
                       ir::Expr SplitOver, ir::Expr TopK) {
  auto Tokens = [&] { return D[DimKind::Seq] * D[DimKind::Batch]; };
  auto Channels = [&] {
    const ir::Expr Each = D[DimKind::Hidden] / SplitOver;
    return Each.hasValue() ? Each : floorDiv(D[DimKind::Hidden], SplitOver);
  };
  switch (S) {
#define CALL_SHAPE(ENUMERATOR, DIMS, ...)                                      \
  case CallShape::ENUMERATOR:                                                  \
    return {__VA_ARGS__};
#include "backends/megatron/CallShapes.def"
  }
  llvm_unreachable("every shape is handled");
}

static ir::ElementType elementOf(CallType T, const ir::Program &P) {
  switch (T) {
  case CallType::Param:
    return ir::elementTypeOf(*P.Spec.Train.Precision);
  case CallType::FP32:
    return ir::ElementType::FP32;
  case CallType::I64:
    return ir::ElementType::I64;
  case CallType::Bool:
    return ir::ElementType::Bool;
  }
  llvm_unreachable("every type is handled");
}

LoggedTensor foretrace::megatron::tensorOf(const CallText &Call,
                                           ir::ExprScope P, const ir::Block &B,
                                           const ir::Op &O,
                                           Instrumentation How) {
  const LocalDims Dims(P, subjectOf(Call.Shape, B, O));
  const ir::Expr One = numberOf(P, 1), Tp = sizeOf(P, ir::Axis::Tp);
  const ir::BlockSpec *Experts = expertsOf(P, B);
  return {shapeOf(Call.Shape, Dims, Tp, How.Scaling ? One : Tp,
                  Experts ? exprOf(P, Experts->Network.number("topk")) : One),
          elementOf(Call.Type, P)};
}

LoggedTensor foretrace::megatron::tensorOf(const BatchCall &Call,
                                           ir::ExprScope P,
                                           const ir::Value &Input) {
  const ir::Expr One = numberOf(P, 1);
  return {shapeOf(Call.Shape, LocalDims(P, Input), One, One, One),
          Call.Element};
}
