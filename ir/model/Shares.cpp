// SPDX-License-Identifier: Apache-2.0
#include "ir/model/Shares.h"
#include "ir/model/SharedWeight.h"
#include "llvm/ADT/STLExtras.h"

using namespace foretrace;
using namespace foretrace::ir;

/// A text of the IR may lack what only `derive` sets.
static int64_t zeroOf(const ParallelSpec &P) {
  return P.Zero.isPresent() ? *P.Zero : 0;
}

bool foretrace::ir::isOfMegatron(const ParallelSpec &P) {
  return !P.DpFramework.isPresent() ||
         P.DpFramework.is(DpFrameworkKind::Megatron);
}

bool foretrace::ir::isOfTorch(const ParallelSpec &P) {
  return P.DpFramework.is(DpFrameworkKind::Torch) ||
         P.DpFramework.is(DpFrameworkKind::TorchFsdp1);
}

bool foretrace::ir::hasTorchUnits(const Program &P) {
  const ParallelSpec &Par = P.Spec.Parallel;
  return isOfTorch(Par) && zeroOf(Par) >= 2 && P.Mesh[Axis::Pp] == 1;
}

bool foretrace::ir::sharesWeights(const Program &P) {
  return zeroOf(P.Spec.Parallel) == 3 || hasTorchUnits(P);
}

bool foretrace::ir::isMegatronFsdp(const ParallelSpec &P) {
  return P.DpFramework.is(DpFrameworkKind::MegatronFsdp);
}

bool foretrace::ir::isDeepSpeed(const ParallelSpec &P) {
  return P.DpFramework.is(DpFrameworkKind::DeepSpeed);
}

bool foretrace::ir::keepsSomeWhole(const Program &P) {
  const ParallelSpec &Par = P.Spec.Parallel;
  return zeroOf(Par) == 3 && (isDeepSpeed(Par) || isMegatronFsdp(Par));
}

bool foretrace::ir::isTableAgain(const Program &P, const Value &V) {
  return V.Kind == ValueKind::Param && V.Tied &&
         tiedHeadOf(P.Spec.Parallel) == TiedHead::BesideEmbedding;
}

/// Returns the stored weights of \p B that are sharded.
static llvm::SmallVector<const Value *, 32> weightsOf(const Program &P,
                                                      const Block &B) {
  llvm::SmallVector<const Value *, 32> Weights;
  for (const Value &V : B.Values)
    if (V.Kind == ValueKind::Param && !V.Alias && !isTableAgain(P, V) &&
        !sharedAxes(V.Layout).empty())
      Weights.push_back(&V);
  return Weights;
}

static bool isOfExperts(const Value &Weight) {
  return Weight.Type.indexOf(DimKind::Expert) >= 0;
}

/// Returns the trained weights, of experts or of the rest, that ZeRO 1 and 2
/// keep whole.
static llvm::SmallVector<const Value *, 32>
trainedWeightsOf(const Program &P, const Block &B, bool AreOfExperts) {
  llvm::SmallVector<const Value *, 32> Weights;
  for (const auto &[Index, V] : llvm::enumerate(B.Values))
    if (V.Kind == ValueKind::Param && !V.Alias && !isTableAgain(P, V) &&
        isOfExperts(V) == AreOfExperts &&
        llvm::any_of(B.Values, [&, I = Index](const Value &G) {
          return G.Kind == ValueKind::Gradient &&
                 G.GradientOf == B.Values.idAt(I);
        }))
      Weights.push_back(&V);
  return Weights;
}

bool foretrace::ir::isOutsideLayers(const Program &P, const Block &B) {
  return &P.Blocks[P.Layers.front().Runs.front().Block] == &B ||
         &P.Blocks[P.Layers.back().Runs.back().Block] == &B;
}

/// The least number of elements that is whole rows of each of \p Weights, and
/// a multiple of \p Step.
static Expr rowsOfAll(ExprScope P, llvm::ArrayRef<const Value *> Weights,
                      Expr Step) {
  for (const Value *V : Weights)
    Step = lcm(Step, SharedWeight(P, V->Type, V->Layout).columns());
  return Step;
}

Expr foretrace::ir::rowsTogether(ExprScope P, bool AreOfExperts) {
  Expr Step = numberOf(P, 1);
  for (const Block &B : P->Blocks)
    Step = rowsOfAll(P, trainedWeightsOf(*P, B, AreOfExperts), Step);
  return Step;
}

namespace {

/// A unit whose weights are put end to end, and filled up so that ranks have
/// equal parts. A weight has what parts that end with it are longer than those
/// that end before it; the last one has what fills up.
class FlatUnit {
public:
  FlatUnit(ExprScope P, const Block &B, bool AreOfExperts);

  Expr shareOf(const Value &Weight, Expr Ranks) const;

private:
  struct Part {
    const Block *Of;
    int64_t Layers;
    llvm::SmallVector<const Value *, 32> Weights;
  };
  bool isIn(const Block &Other) const;
  bool isLast(const Value &Weight) const {
    return Parts.back().Layers == 1 && Parts.back().Weights.back() == &Weight;
  }
  Expr elementsOf(const Value &Weight) const;
  Expr elementsBefore(const Part &Of, const Value *Last) const;
  Expr filled(Expr Elements, Expr Ranks) const;

  ExprScope P;
  const Block &B;
  const bool IsOfTorch;
  llvm::SmallVector<Part, 2> Parts;
};

} // namespace

/// Units are layers, and what is outside them. With ZeRO 2 Megatron-FSDP has
/// one for all (mcore_fsdp_adapter.py, fsdp_unit_modules).
bool FlatUnit::isIn(const Block &Other) const {
  return (!IsOfTorch && zeroOf(P->Spec.Parallel) == 2) || &Other == &B ||
         (isOutsideLayers(*P, Other) && isOutsideLayers(*P, B));
}

FlatUnit::FlatUnit(ExprScope P, const Block &B, bool AreOfExperts)
    : P(P), B(B), IsOfTorch(isOfTorch(P->Spec.Parallel)) {
  const bool IsOfAll = !IsOfTorch && zeroOf(P->Spec.Parallel) == 2;
  const bool IsOfOne = !IsOfAll && !isOutsideLayers(*P, B);
  for (const LayerGroup &G : P->Layers)
    for (const BlockRun &R : G.Runs) {
      const Block &Of = P->Blocks[R.Block];
      if (!isIn(Of) || (IsOfOne && !Parts.empty()))
        continue;
      auto Weights = trainedWeightsOf(*P, Of, AreOfExperts);
      if (!Weights.empty())
        Parts.push_back(
            {&Of, IsOfOne ? 1 : G.Periods * R.Count, std::move(Weights)});
    }
}

/// FSDP1 begins parameters at multiples of 16 bytes (torch/distributed/fsdp/
/// _flat_param.py, _get_aligned_numel), if use_orig_params is set.
Expr FlatUnit::elementsOf(const Value &Weight) const {
  const SharedWeight Of(P, Weight.Type, Weight.Layout);
  if (!IsOfTorch || isLast(Weight))
    return Of.elements();
  const ElementType Type = Weight.Gathered.value_or(Weight.Type.Element);
  const Expr Step = numberOf(P, 16 / bytesPerElement(Type));
  return Of.byPart([&](Expr Part) { return roundUp(Part, Step); });
}

Expr FlatUnit::elementsBefore(const Part &Of, const Value *Last) const {
  llvm::SmallVector<ExprId, 32> Sizes;
  for (const Value *V : Of.Weights) {
    if (V == Last)
      break;
    Sizes.push_back(elementsOf(*V));
  }
  return sumOf(P, Sizes);
}

/// Returns a rank's share of a unit. Megatron-FSDP gives each whole rows, of
/// all weights alike (param_and_grad_buffer.py, chunk_size_factor, since core
/// 0.14).
Expr FlatUnit::filled(Expr Elements, Expr Ranks) const {
  if (IsOfTorch || *P->Spec.Parallel.Megatron < MegatronVersion::V0_14)
    return ceilDiv(Elements, Ranks);
  Expr Step = numberOf(P, 1);
  for (const Part &Of : Parts)
    Step = rowsOfAll(P, Of.Weights, Step);
  return ceilDiv(Elements, Ranks * Step) * Step;
}

Expr FlatUnit::shareOf(const Value &Weight, Expr Ranks) const {
  const auto *Own =
      llvm::find_if(Parts, [&](const Part &Of) { return Of.Of == &B; });
  if (Own == Parts.end() || !llvm::is_contained(Own->Weights, &Weight))
    return ceilDiv(SharedWeight(P, Weight.Type, Weight.Layout).elements(),
                   Ranks);
  const Expr Before = elementsBefore(*Own, &Weight);
  const Expr Start = ceilDiv(Before, Ranks);
  if (!isLast(Weight) || Own->Of != Parts.back().Of)
    return ceilDiv(Before + elementsOf(Weight), Ranks) + Start * -1;
  Expr All = numberOf(P, 0), OfOthers = Start;
  for (const Part &Of : Parts) {
    const Expr Size = elementsBefore(Of, nullptr);
    All += Size * Of.Layers;
    if (Of.Of != &B)
      OfOthers += ceilDiv(Size, Ranks) * Of.Layers;
  }
  return max(filled(All, Ranks) + OfOthers * -1, numberOf(P, 0));
}

Expr foretrace::ir::shareOf(ExprScope P, const Block &B, const Value &V) {
  const bool IsGradient = V.Kind == ValueKind::Gradient;
  const Value *Weight =
      IsGradient && V.GradientOf.isValid() ? &B.Values[V.GradientOf] : &V;
  const ParallelSpec &Par = P->Spec.Parallel;
  const AxisList Shared = sharedAxes(V.Layout);
  if (Weight->Kind != ValueKind::Param || Shared.empty() || zeroOf(Par) < 2 ||
      !Par.Megatron.isPresent())
    return elementsOnRank(P, V.Type, V.Layout);
  const SharedWeight Of(P, Weight->Type, V.Layout);
  if (isDeepSpeed(Par) && zeroOf(Par) == 3)
    return Of.byPart([&](Expr Part) { return ceilDiv(Part, Of.ranks()); });
  if (hasTorchUnits(*P) && Par.DpFramework.is(DpFrameworkKind::Torch))
    return Of.byRows();
  const bool HasUnits =
      hasTorchUnits(*P) || (isMegatronFsdp(Par) && P->Mesh[Axis::Pp] == 1);
  return HasUnits && !Weight->Frozen && !Weight->Alias &&
                 !isTableAgain(*P, *Weight)
             ? FlatUnit(P, B, isOfExperts(*Weight)).shareOf(*Weight, Of.ranks())
             : elementsOnRank(P, V.Type, V.Layout);
}

/// DeepSpeed's param_persistence_threshold (runtime/zero/config.py).
static Expr mostOfWhole(ExprScope P) {
  const auto &Stated = P->Spec.Parallel.ZeroPersistence;
  return Stated.isPresent() ? exprOf(P, Stated) : numberOf(P, 100'000);
}

/// Returns a rank's share of parts that are too large to be kept whole.
/// Megatron-FSDP gathers what is outside the layers once an iteration
/// (param_and_grad_buffer.py, AllGatherPipeline.reset,
/// preserve_non_fsdp_units).
static Expr partedShare(ExprScope P, const Block &B, const Value &V) {
  if (isMegatronFsdp(P->Spec.Parallel))
    return isOutsideLayers(*P, B) ? numberOf(P, 0) : Expr(P.Sizes, V.OnRank.Id);
  const SharedWeight Of(P, V.Type, V.Layout);
  return Of.byPart([&](Expr Part) {
    return ceilDiv(Part, Of.ranks()) * less(mostOfWhole(P), Part);
  });
}

/// In DeepSpeed weights stay if they are used again before so many elements are
/// (runtime/zero/partitioned_param_coordinator.py, __params_to_release): the
/// first ones after a forward and a backward pass of all others. Here they stay
/// or go together.
Expr foretrace::ir::freesWeights(ExprScope P) {
  if (hasTorchUnits(*P) && zeroOf(P->Spec.Parallel) == 2)
    return numberOf(P, 0);
  if (!keepsSomeWhole(*P) || isMegatronFsdp(P->Spec.Parallel) ||
      P->Mesh[Axis::Pp] > 1)
    return numberOf(P, 1);
  llvm::SmallVector<ExprId, 64> All;
  for (const LayerGroup &G : P->Layers)
    for (const BlockRun &R : G.Runs)
      for (const Value *V : weightsOf(*P, P->Blocks[R.Block]))
        All.push_back(SharedWeight(P, V->Type, V->Layout).elements() *
                      (G.Periods * R.Count));
  const auto &Stated = P->Spec.Parallel.ZeroReuse;
  const Expr Most =
      Stated.isPresent() ? exprOf(P, Stated) : numberOf(P, 1'000'000'000);
  return less(Most, sumOf(P, All) * 2);
}

Expr foretrace::ir::gatheredShareOf(ExprScope P, const Block &B, const Value &V,
                                    const Op &O) {
  const Expr All(P.Sizes, V.OnRank.Id);
  if (V.Kind != ValueKind::Param || !keepsSomeWhole(*P) ||
      sharedAxes(V.Layout).empty())
    return All;
  const Expr Parted = partedShare(P, B, V);
  return O.Phase == Phase::Forward && !isTableAgain(*P, V)
             ? Parted
             : Parted * freesWeights(P);
}

Expr foretrace::ir::wholeWeightsOf(ExprScope P, const Block &B) {
  llvm::SmallVector<ExprId, 32> Shares;
  if (keepsSomeWhole(*P))
    for (const Value *V : weightsOf(*P, B)) {
      const SharedWeight Of(P, V->Type, V->Layout);
      Shares.push_back(
          (Expr(P.Sizes, V->OnRank.Id) + partedShare(P, B, *V) * -1) *
          Of.ranks());
    }
  return sumOf(P, Shares);
}

std::vector<int64_t> foretrace::ir::wholeShares(const Program &P) {
  ExprOverlay Scope(P);
  std::vector<int64_t> Shares;
  const int64_t Most = mostOfWhole(Scope).value();
  for (const LayerGroup &G : P.Layers)
    for (const BlockRun &R : G.Runs) {
      std::vector<int64_t> OfLayer;
      for (const Value *V : weightsOf(P, P.Blocks[R.Block])) {
        const SharedWeight Of(Scope, V->Type, V->Layout);
        const int64_t Ranks = Of.ranks().value();
        for (const int64_t Size : Of.elementsOfParts())
          if (Size <= Most)
            OfLayer.push_back((Size + Ranks - 1) / Ranks);
      }
      for (int64_t I = 0; I < G.Periods * R.Count; ++I)
        llvm::append_range(Shares, OfLayer);
    }
  return Shares;
}
