// SPDX-License-Identifier: Apache-2.0
#include "passes/FsdpBuffer.h"
#include "ir/model/SharedWeight.h"
#include "ir/model/Shares.h"
#include "passes/GradientBuffers.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>
#include <numeric>

using namespace foretrace;
using namespace foretrace::ir;

/// Sets the step: ranks have whole rows of all parameters of at least that size
/// (_get_parameter_groups, chunk_size_factor). Returns whether there is one.
bool FsdpBuffer::setStep() {
  llvm::stable_sort(Params, [](const FsdpParam &A, const FsdpParam &B) {
    return A.Columns > B.Columns;
  });
  Step = Params.front().Columns;
  for (const FsdpParam &P : Params) {
    if (P.Columns <= 0 || P.Elements < 0)
      return false; // an overflow
    if (P.Elements >= Step && (Step % P.Columns != 0 || rest(P) != 0) &&
        llvm::MulOverflow(Step / std::gcd(Step, P.Columns), P.Columns, Step))
      return false;
  }
  return true;
}

void FsdpBuffer::place(const FsdpParam &P, int64_t Begin) {
  if (P.IsSummed)
    Summed.emplace_back(Begin, Begin + P.Elements);
}

/// The gap after the parameter \p First takes the end of another one, and some
/// that are small.
void FsdpBuffer::placeWithRest(std::vector<FsdpParam> &Small, size_t First) {
  int64_t Gap = End + Params[First].Elements;
  int64_t Room = Step - rest(Params[First]);
  place(Params[First], End);
  End = Gap + Room;
  const auto Other = std::find_if(
      Params.begin() + static_cast<ptrdiff_t>(First) + 1, Params.end(),
      [&](const FsdpParam &P) { return rest(P) != 0 && rest(P) <= Room; });
  if (Other != Params.end()) {
    place(*Other, End - rest(*Other));
    Room -= rest(*Other);
    End += Other->Elements - rest(*Other);
    Params.erase(Other);
  }
  llvm::erase_if(Small, [&](const FsdpParam &P) {
    if (P.Elements > Room)
      return false;
    place(P, Gap);
    Room -= P.Elements;
    Gap += P.Elements;
    return true;
  });
}

std::optional<FsdpBuffer::Layout> FsdpBuffer::layout(int64_t Ranks) && {
  if (Params.empty())
    return Layout{0, 0};
  if (isFull() || !setStep())
    return std::nullopt;
  __int128 Most = 0;
  for (const FsdpParam &P : Params)
    Most += static_cast<__int128>(P.Elements) + Step;
  int64_t Whole = 0;
  if (llvm::MulOverflow(Ranks, Step, Whole) || Most + Whole > INT64_MAX)
    return std::nullopt;
  std::vector<FsdpParam> Small;
  llvm::erase_if(Params, [&](const FsdpParam &P) {
    if (P.Elements < Step)
      Small.push_back(P);
    return P.Elements < Step;
  });
  for (size_t I = 0; I < Params.size(); ++I) {
    if (rest(Params[I]) != 0) {
      placeWithRest(Small, I);
      continue;
    }
    place(Params[I], End);
    End += Params[I].Elements;
  }
  for (const FsdpParam &P : Small) {
    place(P, End);
    End += P.Elements;
  }
  const int64_t All = (End + Whole - 1) / Whole * Whole, Share = All / Ranks;
  int64_t OfFirst = 0;
  for (const auto &[From, To] : Summed)
    OfFirst += std::clamp<int64_t>(Share - From, 0, To - From);
  return Layout{All, OfFirst};
}

bool foretrace::hasFsdpBuffers(const Program &P) {
  const ParallelSpec &Par = P.Spec.Parallel;
  return isMegatronFsdp(Par) && *Par.Zero >= 1 &&
         *Par.Megatron >= MegatronVersion::V0_14;
}

/// A buffer of these parts of some layers.
std::optional<FsdpBuffer::Layout>
GradientBuffers::layoutOf(const LayerSequence &Layers, Parts Of,
                          const Group &Over, TiedHead At) const {
  llvm::DenseMap<unsigned, std::vector<FsdpParam>> Known; // by block
  auto ParamsOf = [&](BlockId Id) -> const std::vector<FsdpParam> & {
    const auto [It, IsNew] = Known.try_emplace(Id.Index);
    if (!IsNew)
      return It->second;
    const Block &B = P.Blocks[Id];
    const auto OfBlock = paramsOf(B, Of, At); // the last one first
    for (const BucketParam &Param : llvm::reverse(OfBlock)) {
      const Value &Weight = B.Values[Param.Gradient->GradientOf];
      const SharedWeight Shape(P, Weight.Type, Weight.Layout);
      It->second.push_back({Param.Elements, Shape.columns().value(),
                            isSummedOverTp(Weight, *Param.Gradient)});
    }
    return It->second;
  };
  FsdpBuffer Buffer;
  for (const LayerGroup &G : Layers)
    for (int64_t Period = 0; Period < G.Periods && !Buffer.isFull(); ++Period)
      for (const BlockRun &R : G.Runs)
        for (int64_t I = 0; I < R.Count && !Buffer.isFull(); ++I)
          for (const FsdpParam &Param : ParamsOf(R.Block))
            Buffer.add(Param);
  return std::move(Buffer).layout(sizeOf(P, Over).value());
}

/// Gradients that ranks of tp sum, of which a rank sums what is in its share:
/// here the first one, if there is a layout (finalize_model_grads.py,
/// _allreduce_non_tensor_model_parallel_grads). With ZeRO 3 each layer is a
/// unit.
std::optional<int64_t> GradientBuffers::replicatedOfFirst(const Stage &S,
                                                          TiedHead At) const {
  const Group Over{used({Axis::Cp, Axis::Dp})};
  ExprId LayerCounts::*const Dense[] = {&LayerCounts::Dense,
                                        &LayerCounts::Table};
  bool HasAll = true;
  auto SummedOf = [&](const LayerSequence &Layers) {
    const auto Layout = layoutOf(Layers, Dense, Over, At);
    HasAll &= Layout.has_value();
    return Elements(Layout ? Layout->Summed : 0);
  };
  Elements All;
  for (const ChunkRun &C : S.Chunks) {
    LayerSequence Together;
    Elements OfLayers;
    for (const LayerGroup &G : C.Layers)
      for (const BlockRun &R : G.Runs) {
        const LayerGroup One{1, {{R.Block, 1}}};
        if (*P.Spec.Parallel.Zero < 3)
          continue;
        if (isOutsideLayers(P, P.Blocks[R.Block]))
          Together.push_back(One);
        else
          OfLayers += SummedOf({One}) * G.Periods * R.Count;
      }
    if (*P.Spec.Parallel.Zero < 3)
      Together = C.Layers;
    OfLayers += SummedOf(Together);
    All += OfLayers * C.Count;
  }
  if (!HasAll || All.isOverflow())
    return std::nullopt;
  return All.value();
}
