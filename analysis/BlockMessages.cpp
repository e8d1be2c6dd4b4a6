// SPDX-License-Identifier: Apache-2.0
//
// Messages of a layer, by kind of group.

#include "analysis/Analyses.h"
#include "ir/ranks/BlockTasks.h"
#include "llvm/ADT/STLExtras.h"

using namespace foretrace;
using namespace foretrace::ir;

void foretrace::addMessages(std::vector<GroupBytes> &To, const Group &G,
                            Expr Size) {
  auto It =
      llvm::find_if(To, [&](const GroupBytes &Known) { return Known.Of == G; });
  if (It == To.end())
    To.push_back({G, Size});
  else
    It->Size = Size.plus(It->Size.Id);
}

Expr foretrace::messageOfChunks(ExprScope P, const Block &B, const Op &O) {
  const Expr Once = {P.Sizes, O.Message.Id};
  return isRead(B, O) && readsForEachChunk(P)
             ? Once * exprOf(P, P->Spec.Parallel.Vpp)
             : Once;
}

void foretrace::sumMessages(Program &P, Block &B) {
  B.Totals.Messages.clear();
  for (const Op &O : B.Ops)
    if (isCollective(O.Kind) && O.Group.size(P.Mesh) > 1)
      addMessages(B.Totals.Messages, O.Group, messageOfChunks(P, B, O));
}
