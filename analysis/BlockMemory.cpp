// SPDX-License-Identifier: Apache-2.0
//
// What a layer leaves in the memory of one rank.

#include "analysis/Analyses.h"
#include "analysis/Liveness.h"
#include "analysis/Parameters.h"
#include "ir/model/OpKinds.h"
#include "ir/model/Shares.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"

using namespace foretrace;
using namespace foretrace::ir;

/// Returns the type of \p V if it is a parameter; otherwise that of stored
/// parameters.
static ElementType storedType(const TrainSpec &Train, const Value &V) {
  if (V.Kind == ValueKind::Param)
    return V.Type.Element;
  const ElementType Of = elementTypeOf(*Train.WeightPrecision);
  return isScaled(Of) ? elementTypeOf(*Train.Precision) : Of;
}

bool foretrace::isOwnMaster(const TrainSpec &Train, const Value &V) {
  const ElementType Stored = storedType(Train, V);
  return Stored == ElementType::FP32 ||
         Stored == elementTypeOf(*Train.MasterPrecision);
}

/// The copy in master_precision; of a precision-aware optimizer what bf16 lacks
/// of fp32 (Megatron-LM, optimizer_config.py, store_param_remainders).
static int64_t masterBytes(const TrainSpec &Train, const Value &V) {
  const ElementType Master = elementTypeOf(*Train.MasterPrecision);
  const ElementType Stored = storedType(Train, V);
  if (isOwnMaster(Train, V))
    return 0;
  const bool HasRemainder = *Train.Optimizer == OptimizerKind::PrecisionAware &&
                            Stored == ElementType::BF16 &&
                            Master == ElementType::FP32;
  return HasRemainder ? 2 : bytesPerElement(Master);
}

/// Returns whether muon orthogonalizes the momentum of \p V: it is a matrix,
/// but neither a table of words nor the output layer (Megatron-LM,
/// optimizer/emerging_optimizers.py, _is_nonlinear_or_embedding, and
/// language_module.py, is_embedding_or_output_parameter).
static bool isOrthogonalized(const Value &V) {
  return isMatrix(V) || V.Type.indexOf(DimKind::Position) >= 0;
}

int64_t foretrace::optimizerBytes(const TrainSpec &Train, const Value &V) {
  struct State {
    int64_t OfMatrices, OfOthers, Bytes;
  };
  static constexpr State States[] = {
#define OPTIMIZER(ENUMERATOR, SPELLING, MATRICES, OTHERS, BYTES, DOC)          \
  {MATRICES, OTHERS, BYTES},
#include "ir/model/Optimizers.def"
  };
  const State &Of = States[static_cast<size_t>(*Train.Optimizer)];
  const int64_t Moments = isOrthogonalized(V) ? Of.OfMatrices : Of.OfOthers;
  const int64_t Bytes =
      Of.Bytes > 0 ? Of.Bytes
                   : bytesPerElement(elementTypeOf(*Train.MomentPrecision));
  return Moments * Bytes + masterBytes(Train, V);
}

/// Megatron-LM's optimizer of mixed precision reads gradients in fp32: those of
/// less have a copy for each parameter until the next iteration
/// (Float16OptimizerWithFloat16Params._copy_model_grads_to_main_grads). The
/// precision-aware one reads them as they are, as `decoupled_grad`
/// (distrib_optimizer.py, the same function), and so do optimizers of masters
/// in their type.
static int64_t updateBytes(const TrainSpec &Train) {
  const ElementType Gradient = elementTypeOf(*Train.GradPrecision);
  return Gradient == ElementType::FP32 ||
                 Gradient == elementTypeOf(*Train.MasterPrecision) ||
                 *Train.Optimizer == OptimizerKind::PrecisionAware
             ? 0
             : bytesPerElement(ElementType::FP32);
}

/// Returns the bytes that each stored parameter of \p B has on a rank, \p Each
/// for an element of a tensor; if they are shared, each tensor's by itself,
/// rounded up.
static Expr stateBytes(Program &P, const Block &B,
                       llvm::function_ref<int64_t(const Value &)> Each,
                       bool IsShared) {
  const TiedHead At = tiedHeadOf(P.Spec.Parallel);
  llvm::MapVector<int64_t, llvm::SmallVector<ExprId, 32>> Elements; // by bytes
  llvm::SmallVector<ExprId, 32> Shares;
  for (const auto &[Index, V] : llvm::enumerate(B.Values)) {
    if (!isStored(V, At) || isBuffer(B.Ops, B.Values.idAt(Index)) || V.Frozen)
      continue;
    const int64_t Bytes = Each(V);
    if (IsShared)
      Shares.push_back(ceilDiv(Expr(P.Sizes, V.OnRank.Id) * Bytes,
                               sizeOf(P, shareAxes(P, V.Type))));
    else
      Elements[Bytes].push_back(V.OnRank.Id);
  }
  for (const auto &[Bytes, Sizes] : Elements)
    Shares.push_back(sumOf(P, Sizes) * Bytes);
  return sumOf(P, Shares);
}

/// Returns the weights that products read in a scaled type, with that type.
static llvm::DenseMap<unsigned, ElementType> convertedWeights(const Block &B) {
  llvm::DenseMap<unsigned, ElementType> Weights;
  for (const Op &O : B.Ops)
    if (O.IsLowPrecision && O.Kind == OpKind::MatMul &&
        O.Phase == Phase::Forward)
      for (const ValueId V : O.Operands)
        if (const ElementType T = B.Values[O.Operands.front()].Type.Element;
            B.Values[V].Kind == ValueKind::Param && isScaled(T))
          Weights[V.Index] = T;
  return Weights;
}

/// Returns the bytes of the parameters of \p B on a rank, as they are stored,
/// and of their copies in compute_precision, which are made once an iteration
/// (Transformer Engine, pytorch/module/base.py, get_weight_workspace). Weights
/// that are stored in that type are one of the copies.
static Expr weightBytes(Program &P, const Block &B) {
  const TiedHead At = tiedHeadOf(P.Spec.Parallel);
  const Expr Number = exprOf(P, P.Spec.Train.ComputeCopies);
  const auto Converted = convertedWeights(B);
  llvm::MapVector<ElementType, llvm::SmallVector<ExprId, 32>> Stored;
  llvm::SmallVector<ExprId, 16> Copies;
  for (const auto &[Index, V] : llvm::enumerate(B.Values)) {
    if (!isStored(V, At) || isBuffer(B.Ops, B.Values.idAt(Index)))
      continue;
    const Expr Count(P.Sizes, V.OnRank.Id);
    if (isScaled(V.Type.Element))
      Copies.push_back(bytesOnRank(P, V));
    else
      Stored[V.Type.Element].push_back(Count);
    if (const auto As = Converted.find(static_cast<unsigned>(Index));
        As != Converted.end())
      Copies.push_back(bytesOf(P, Count, As->second, ScaledBlocks::Weight) *
                       (isScaled(V.Type.Element)
                            ? max(Number + -1, numberOf(P, 0))
                            : Number));
  }
  llvm::SmallVector<ExprId, 4> Sum;
  for (const auto &[Type, Counts] : Stored)
    Sum.push_back(sumOf(P, Counts) * bytesPerElement(Type));
  return sumOf(P, Sum) + sumOf(P, Copies);
}

/// A buffer, and another one like it of the counts by which it is corrected
/// (Megatron-LM, moe/router.py, TopKRouter.__init__: expert_bias and
/// local_tokens_per_expert).
static Expr bufferBytes(Program &P, const Block &B) {
  llvm::SmallVector<ExprId, 2> Sizes;
  for (const auto &[Index, V] : llvm::enumerate(B.Values))
    if (isBuffer(B.Ops, B.Values.idAt(Index)))
      Sizes.push_back(bytesOnRank(P, V) * 2);
  return sumOf(P, Sizes);
}

/// ZeRO 1 spreads the optimizer's state over the ranks with the same
/// parameters, 2 the gradients too, 3 all: then parameters are shares already.
void foretrace::measureMemory(Program &P, Block &B) {
  const TrainSpec &Train = P.Spec.Train;
  const int64_t Zero = *P.Spec.Parallel.Zero;
  const bool AreWeights = sharesWeights(P);
  const bool IsStateShared = (Zero == 1 || Zero == 2) && !AreWeights;
  auto Always = [](int64_t Bytes) {
    return [=](const Value &) { return Bytes; };
  };
  B.Totals.Weights = weightBytes(P, B) + bufferBytes(P, B);
  B.Totals.Gradients = stateBytes(
      P, B, Always(bytesPerElement(elementTypeOf(*Train.GradPrecision))),
      Zero == 2 && !AreWeights);
  if (*Train.OffloadOptimizer) {
    B.Totals.Optimizer = B.Totals.Update = numberOf(P, 0);
  } else {
    B.Totals.Optimizer = stateBytes(
        P, B, [&](const Value &V) { return optimizerBytes(Train, V); },
        IsStateShared);
    B.Totals.Update =
        stateBytes(P, B, Always(updateBytes(Train)), IsStateShared);
  }
  B.Totals.Kept = isOffloaded(P, B) ? numberOf(P, 0) : Liveness(P, B).kept();
}
