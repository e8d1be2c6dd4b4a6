// SPDX-License-Identifier: Apache-2.0
//
// Parameters of a layer.

#include "ir/Parameters.h"
#include "passes/analyses/Analyses.h"

using namespace foretrace;
using namespace foretrace::ir;

/// Elements of a parameter as the model is published, without the rows that pad
/// the vocabulary.
static Expr publishedSize(Program &P, const Value &V) {
  TensorType T = V.Type;
  if (const int I = T.indexOf(DimKind::Vocab); I >= 0)
    T.Dims[static_cast<size_t>(I)].Size = exprOf(P, P.Spec.Model.Vocab);
  return elementsOnRank(P, T, Layout());
}

/// Of the experts those that a token goes to.
static Expr activatedSize(Program &P, const Block &B, const Value &V,
                          Expr Published) {
  const int I = V.Type.indexOf(DimKind::Expert);
  if (I >= 0)
    for (const BlockSpec &Spec : P.Spec.Model.Blocks)
      if (Spec.Name == B.Name && Spec.Moe)
        return Published /
               Expr(P.Sizes, V.Type.Dims[static_cast<size_t>(I)].Size) *
               exprOf(P, Spec.Moe->TopK);
  return Published;
}

void foretrace::countParameters(Program &P, Block &B) {
  const TiedHead At = tiedHeadOf(P.Spec.Parallel);
  llvm::SmallVector<ExprId, 32> OnRank, Published, Activated;
  for (const Value &V : B.Values) {
    if (isStored(V, At))
      OnRank.push_back(V.OnRank.Id);
    if (!isStored(V, TiedHead::BesideEmbedding))
      continue;
    const Expr Size = publishedSize(P, V);
    Published.push_back(Size);
    Activated.push_back(activatedSize(P, B, V, Size));
  }
  B.Totals.Parameters = sumOf(P, OnRank);
  B.Totals.Published = sumOf(P, Published);
  B.Totals.Activated = sumOf(P, Activated);
}
