// SPDX-License-Identifier: Apache-2.0
#include "analysis/ModelParameters.h"
#include "analysis/Parameters.h"
#include "ir/model/OpKinds.h"
#include "llvm/ADT/STLExtras.h"

using namespace foretrace;
using namespace foretrace::ir;

/// Calls \p Visit with each kind of layer, and how many there are.
template <typename FnT> static void forEachBlock(ExprScope P, FnT Visit) {
  for (const auto &[Index, Layers] : layersByBlock(P->Layers))
    Visit(P->Blocks[BlockId(Index)], Layers);
}

Expr foretrace::sumOfLayers(ExprScope P, ElementExpr BlockTotals::*Each) {
  llvm::SmallVector<ExprId, 8> Terms;
  forEachBlock(P, [&](const Block &B, int64_t Layers) {
    Terms.push_back(numberOf(P, Layers) * P.at(B.Totals.*Each));
  });
  return sumOf(P, Terms);
}

ParameterCount foretrace::modelParameters(ExprScope P) {
  return {sumOfLayers(P, &BlockTotals::Published),
          sumOfLayers(P, &BlockTotals::Activated)};
}

int64_t foretrace::activeParameters(const Program &P) {
  ExprOverlay Scope(P);
  const Expr Active = modelParameters(Scope).Active;
  return Active.hasValue() ? Active.value() : INT64_MAX;
}

/// Returns whether a lookup reads \p Table, or the whole of it under ZeRO 3.
static bool isLookedUp(const Block &B, ValueId Table) {
  return llvm::any_of(B.Ops, [&](const Op &O) {
    if (O.Phase != Phase::Forward || !llvm::is_contained(O.Operands, Table))
      return false;
    return O.Kind == OpKind::Embed ||
           (O.Kind == OpKind::AllGather && isLookedUp(B, O.Results.front()));
  });
}

Expr foretrace::lookedUpParameters(ExprScope P) {
  Expr Sum = numberOf(P, 0);
  forEachBlock(P, [&](const Block &B, int64_t Layers) {
    for (const auto &[I, V] : llvm::enumerate(B.Values)) {
      const bool IsHead =
          *P->Spec.Model.Tied && V.Type.indexOf(DimKind::Vocab) >= 0;
      if (isPublished(V) && !IsHead &&
          isLookedUp(B, ValueId(static_cast<unsigned>(I))))
        Sum += publishedSize(P, V) * Layers;
    }
  });
  return Sum;
}

std::vector<PartParameters> foretrace::parametersByPart(ExprScope P) {
  std::vector<PartParameters> Parts;
  forEachBlock(P, [&](const Block &B, int64_t Layers) {
    for (const Value &V : B.Values) {
      if (!isPublished(V))
        continue;
      const llvm::StringRef Name = V.Part.empty() ? "other" : V.Part;
      auto It = llvm::find_if(Parts, [&](const PartParameters &Known) {
        return Known.Part == Name;
      });
      if (It == Parts.end())
        It = Parts.insert(It, {Name, {numberOf(P, 0), numberOf(P, 0)}});
      It->Of += {publishedSize(P, V) * Layers, activatedSize(P, B, V) * Layers};
    }
  });
  return Parts;
}

StageParameters foretrace::publishedOf(ExprScope P, const Stage &S) {
  StageParameters Sum = {0, numberOf(P, 0)};
  for (const auto &[Index, Layers] : layersByBlock(S)) {
    const Expr Each = P.at(P->Blocks[BlockId(Index)].Totals.Published);
    Sum.Published += static_cast<__int128>(Each.value()) * Layers;
    Sum.From += Each * Layers;
  }
  return Sum;
}

__int128 foretrace::storedParameters(const Program &P) {
  __int128 Sum = 0;
  for (const Stage &S : P.Stages)
    Sum += static_cast<__int128>(P.Sizes.value(S.Totals.Parameters.Id)) *
           ranksOfStage(P) * S.Count;
  return Sum;
}
