// SPDX-License-Identifier: Apache-2.0
//
// Parameters of a layer.

#include "analysis/Analyses.h"
#include "analysis/Parameters.h"

using namespace foretrace;
using namespace foretrace::ir;

void foretrace::countParameters(Program &P, Block &B) {
  const TiedHead At = tiedHeadOf(P.Spec.Parallel);
  llvm::SmallVector<ExprId, 32> OnRank, Published, Activated;
  for (const Value &V : B.Values) {
    if (isStored(V, At))
      OnRank.push_back(V.OnRank.Id);
    if (!isPublished(V))
      continue;
    Published.push_back(publishedSize(P, V));
    Activated.push_back(activatedSize(P, B, V));
  }
  B.Totals.Parameters = sumOf(P, OnRank);
  B.Totals.Published = sumOf(P, Published);
  B.Totals.Activated = sumOf(P, Activated);
}
