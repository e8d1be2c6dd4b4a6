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
  Expr Kept = numberOf(P, 0);
  for (unsigned Index : Storage)
    Kept += bytesOnRank(P, B.Values[B.Values.idAt(Index)]);
  return Kept;
}

int64_t foretrace::optimizerBytes(const TrainSpec &Train) {
  return *Train.Precision == PrecisionKind::FP32 ? 8 : 12;
}

/// ZeRO 1 spreads the optimizer's state over the ranks with the same
/// parameters, 2 the gradients too, 3 all.
void foretrace::measureMemory(Program &P, Block &B) {
  const TrainSpec &Train = P.Spec.Train;
  const int64_t Zero = *P.Spec.Parallel.Zero;
  const TiedHead At = tiedHeadOf(P.Spec.Parallel);
  const Expr One = numberOf(P, 1);
  Expr Weights = numberOf(P, 0), Gradients = Weights, Optimizer = Weights;
  for (const Value &V : B.Values) {
    if (!isStored(V, At))
      continue;
    const Expr Ranks = V.Type.indexOf(DimKind::Expert) >= 0
                           ? sizeOf(P, Axis::Edp)
                           : sizeOf(P, {Axis::Cp, Axis::Dp});
    // With ZeRO 3 the layout of a parameter is its share.
    const Expr Count(P.Sizes, V.OnRank.Id);
    Weights += bytesOnRank(P, V);
    Gradients += ceilDiv(Count * bytesPerElement(*Train.GradPrecision),
                         Zero == 2 ? Ranks : One);
    Optimizer += ceilDiv(Count * optimizerBytes(Train),
                         Zero == 1 || Zero == 2 ? Ranks : One);
  }
  B.Totals.Weights = Weights;
  B.Totals.Gradients = Gradients;
  B.Totals.Optimizer = Optimizer;
  B.Totals.Kept = keptBytes(P, B);
}
