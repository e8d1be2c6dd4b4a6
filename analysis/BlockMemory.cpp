// SPDX-License-Identifier: Apache-2.0
//
// What a layer leaves in the memory of one rank.

#include "analysis/Analyses.h"
#include "analysis/Liveness.h"
#include "analysis/Parameters.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"

using namespace foretrace;
using namespace foretrace::ir;

/// Moments of an optimizer whose table says none.
static int64_t momentBytes(const TrainSpec &Train) {
  return 2 * bytesPerElement(elementTypeOf(*Train.MomentPrecision));
}

/// The copy in fp32; of a precision-aware optimizer what bf16 lacks of it
/// (Megatron-LM, optimizer_config.py, store_param_remainders).
static int64_t masterBytes(const TrainSpec &Train) {
  if (*Train.Precision == PrecisionKind::FP32)
    return 0;
  return *Train.Optimizer == OptimizerKind::PrecisionAware &&
                 *Train.Precision == PrecisionKind::BF16
             ? 2
             : 4;
}

/// Whether muon orthogonalizes the momentum of \p V: that of what is
/// two-dimensional, but for the tables of words and the output layer
/// (Megatron-LM, optimizer/emerging_optimizers.py, _is_nonlinear_or_embedding,
/// and language_module.py, is_embedding_or_output_parameter).
static bool isOrthogonalized(const Value &V) {
  return isMatrix(V) || V.Type.indexOf(DimKind::Position) >= 0;
}

int64_t foretrace::optimizerBytes(const TrainSpec &Train, const Value &V) {
  struct State {
    int64_t OfMatrices, OfOthers;
  };
  static constexpr State States[] = {
#define OPTIMIZER(ENUMERATOR, SPELLING, MATRICES, OTHERS, DOC)                 \
  {MATRICES, OTHERS},
#include "ir/model/Optimizers.def"
  };
  const State &Of = States[static_cast<size_t>(*Train.Optimizer)];
  const int64_t Moments = *Train.Optimizer == OptimizerKind::PrecisionAware
                              ? momentBytes(Train)
                          : isOrthogonalized(V) ? Of.OfMatrices
                                                : Of.OfOthers;
  return Moments + masterBytes(Train);
}

/// Megatron-LM's optimizer of mixed precision reads gradients in fp32: those of
/// less have a copy for each parameter until the next iteration
/// (Float16OptimizerWithFloat16Params._copy_model_grads_to_main_grads). The
/// precision-aware one reads them as they are, as `decoupled_grad`
/// (distrib_optimizer.py, the same function).
static int64_t updateBytes(const TrainSpec &Train) {
  return *Train.GradPrecision == PrecisionKind::FP32 ||
                 *Train.Optimizer == OptimizerKind::PrecisionAware
             ? 0
             : 4;
}

/// Bytes of all parameters on a rank, \p Each for one of a tensor; if they are
/// shared, each tensor's by itself, rounded up.
static Expr stateBytes(Program &P, const Block &B,
                       llvm::function_ref<int64_t(const Value &)> Each,
                       bool IsShared, bool OfFrozen = false) {
  const TiedHead At = tiedHeadOf(P.Spec.Parallel);
  llvm::MapVector<int64_t, llvm::SmallVector<ExprId, 32>> Elements; // by bytes
  llvm::SmallVector<ExprId, 32> Shares;
  for (const auto &[Index, V] : llvm::enumerate(B.Values)) {
    if (!isStored(V, At) || isBuffer(B.Ops, B.Values.idAt(Index)) ||
        (V.Frozen && !OfFrozen))
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
  const bool IsStateShared = Zero == 1 || Zero == 2;
  auto Always = [](int64_t Bytes) {
    return [=](const Value &) { return Bytes; };
  };
  B.Totals.Weights =
      stateBytes(P, B, Always(bytesPerElement(*Train.Precision)), false,
                 /*OfFrozen=*/true) +
      bufferBytes(P, B);
  B.Totals.Gradients = stateBytes(
      P, B, Always(bytesPerElement(*Train.GradPrecision)), Zero == 2);
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
