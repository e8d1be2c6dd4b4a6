// SPDX-License-Identifier: Apache-2.0
#include "ir/Parameters.h"

using namespace foretrace;
using namespace foretrace::ir;

TiedHead foretrace::ir::tiedHeadOf(const ParallelSpec &P) {
  return *P.Pp > 1 && getInfo(*P.Schedule).Placement == PlacementKind::Loop
             ? TiedHead::Apart
             : TiedHead::BesideEmbedding;
}

bool foretrace::ir::isStored(const Value &V, TiedHead At) {
  return V.Kind == ValueKind::Param &&
         !(V.Tied && At == TiedHead::BesideEmbedding);
}

bool foretrace::ir::isMatrix(const Value &V) {
  const bool IsOfExperts = V.Type.indexOf(DimKind::Expert) >= 0;
  return V.Kind == ValueKind::Param &&
         V.Type.Dims.size() == (IsOfExperts ? 3U : 2U) &&
         V.Type.indexOf(DimKind::Vocab) < 0 &&
         V.Type.indexOf(DimKind::Position) < 0;
}

Expr foretrace::ir::publishedSize(Program &P, const Value &V) {
  TensorType T = V.Type;
  if (const int I = T.indexOf(DimKind::Vocab); I >= 0)
    T.Dims[static_cast<size_t>(I)].Size = exprOf(P, P.Spec.Model.Vocab);
  return elementsOnRank(P, T, Layout());
}

Expr foretrace::ir::activatedSize(Program &P, const Block &B, const Value &V) {
  const Expr Published = publishedSize(P, V);
  const int I = V.Type.indexOf(DimKind::Expert);
  if (I < 0)
    return Published;
  if (const BlockSpec *Spec = P.Spec.Model.findBlock(B.Name); Spec && Spec->Moe)
    return Published / Expr(P.Sizes, V.Type.Dims[static_cast<size_t>(I)].Size) *
           exprOf(P, Spec->Moe->TopK);
  return Published;
}
