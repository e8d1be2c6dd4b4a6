// SPDX-License-Identifier: Apache-2.0
#include "ir/Memory.h"
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

Bytes foretrace::ir::keptBytes(const Block &B, const Mesh &M) {
  llvm::SmallSetVector<unsigned, 16> Storage;
  for (size_t I = 0; I < B.Values.size(); ++I)
    if (const ValueId V = B.Values.idAt(I); isKept(B, V))
      Storage.insert(storageOf(B, V).Index);
  Bytes Kept;
  for (unsigned Index : Storage)
    Kept += bytesPerRank(B.Values[B.Values.idAt(Index)], M);
  return Kept;
}

/// \p Size on each of \p Ranks ranks that share it, rounded up.
static Bytes share(Bytes Size, int64_t Ranks) {
  return Size.isOverflow()
             ? Size
             : Bytes(Size.value() / Ranks + (Size.value() % Ranks != 0));
}

int64_t foretrace::ir::optimizerBytes(const TrainSpec &Train) {
  return *Train.Precision == PrecisionKind::FP32 ? 8 : 12;
}

Bytes foretrace::ir::stateBytes(const Block &B, TiedHead At, const Program &P) {
  const TrainSpec &Train = P.Spec.Train;
  const int64_t Zero = *P.Spec.Parallel.Zero;
  const int64_t OfGradient = bytesPerElement(*Train.GradPrecision);
  const int64_t OfState = optimizerBytes(Train);
  Bytes Sum;
  for (const Value &V : B.Values) {
    if (!isStored(V, At))
      continue;
    const bool IsExpert = V.Type.indexOf(DimKind::Expert) >= 0;
    const int64_t Ranks =
        IsExpert ? P.Mesh[Axis::Edp] : P.Mesh.groupSize({Axis::Cp, Axis::Dp});
    const Elements Count = elementsPerRank(V, P.Mesh);
    // With ZeRO 3 the layout of a parameter is its share.
    Sum += bytesPerRank(V, P.Mesh);
    Sum += share(bytesOf(Count, OfGradient), Zero == 2 ? Ranks : 1);
    Sum += share(bytesOf(Count, OfState), Zero == 1 || Zero == 2 ? Ranks : 1);
  }
  return Sum;
}
