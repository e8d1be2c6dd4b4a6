// SPDX-License-Identifier: Apache-2.0
//
// What a layer leaves in the memory of one rank.

#include "ir/Parameters.h"
#include "passes/analyses/Analyses.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"

using namespace foretrace;
using namespace foretrace::ir;

/// What the op that makes \p V takes it from without copying: parts of a tensor
/// are views, which keep all of it.
static ValueId storageOf(const Block &B, ValueId V) {
  for (const Op &O : B.Ops)
    if (O.Kind == OpKind::Split && O.Phase == Phase::Forward &&
        llvm::is_contained(O.Results, V))
      return O.Operands.front();
  return V;
}

static bool isKept(const Block &B, ValueId V) {
  if (B.Values[V].Kind != ValueKind::Input &&
      B.Values[V].Kind != ValueKind::Activation)
    return false;
  bool IsRead = false;
  for (const Op &O : B.Ops) {
    if (O.Phase != Phase::Forward && llvm::is_contained(O.Results, V))
      return false;
    IsRead |= O.Phase != Phase::Forward && llvm::is_contained(O.Operands, V);
  }
  return IsRead;
}

/// Values of the forward pass that backward, or computing again for it, reads;
/// of one micro-batch. A part of a tensor keeps the whole of it.
/// Korthikanti et al., arXiv 2205.05198, section 4.
static Expr keptBytes(Program &P, const Block &B) {
  llvm::SmallSetVector<unsigned, 16> Storage;
  for (size_t I = 0; I < B.Values.size(); ++I)
    if (const ValueId V = B.Values.idAt(I); isKept(B, V))
      Storage.insert(storageOf(B, V).Index);
  llvm::SmallVector<ExprId, 16> Kept;
  for (unsigned Index : Storage)
    Kept.push_back(bytesOnRank(P, B.Values[B.Values.idAt(Index)]));
  return sumOf(P, Kept);
}

int64_t foretrace::optimizerBytes(const TrainSpec &Train) {
  return *Train.Precision == PrecisionKind::FP32 ? 8 : 12;
}

/// Bytes of all parameters on a rank, \p Each for one; if they are shared, each
/// tensor's by itself, rounded up.
static Expr stateBytes(Program &P, const Block &B, int64_t Each,
                       bool IsShared) {
  if (!IsShared)
    return Expr(P.Sizes, B.Totals.Parameters.Id) * Each;
  const TiedHead At = tiedHeadOf(P.Spec.Parallel);
  llvm::SmallVector<ExprId, 32> Shares;
  for (const Value &V : B.Values)
    if (isStored(V, At))
      Shares.push_back(ceilDiv(Expr(P.Sizes, V.OnRank.Id) * Each,
                               V.Type.indexOf(DimKind::Expert) >= 0
                                   ? sizeOf(P, Axis::Edp)
                                   : sizeOf(P, {Axis::Cp, Axis::Dp})));
  return sumOf(P, Shares);
}

/// ZeRO 1 spreads the optimizer's state over the ranks with the same
/// parameters, 2 the gradients too, 3 all: then parameters are shares already.
void foretrace::measureMemory(Program &P, Block &B) {
  const TrainSpec &Train = P.Spec.Train;
  const int64_t Zero = *P.Spec.Parallel.Zero;
  B.Totals.Weights = stateBytes(P, B, bytesPerElement(*Train.Precision), false);
  B.Totals.Gradients =
      stateBytes(P, B, bytesPerElement(*Train.GradPrecision), Zero == 2);
  B.Totals.Optimizer =
      stateBytes(P, B, optimizerBytes(Train), Zero == 1 || Zero == 2);
  B.Totals.Kept = keptBytes(P, B);
}
