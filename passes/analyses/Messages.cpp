// SPDX-License-Identifier: Apache-2.0
//
// What a layer sends, by kind of group.

#include "passes/analyses/Analyses.h"
#include "llvm/ADT/STLExtras.h"

using namespace foretrace;
using namespace foretrace::ir;

void foretrace::sumMessages(Program &P, Block &B) {
  B.Totals.Messages.clear();
  for (const Op &O : B.Ops) {
    if (!isCollective(O.Kind) || O.Group.size(P.Mesh) == 1)
      continue;
    auto It = llvm::find_if(B.Totals.Messages, [&](const GroupBytes &G) {
      return G.Of == O.Group;
    });
    if (It == B.Totals.Messages.end()) {
      B.Totals.Messages.push_back({O.Group, O.Message});
      continue;
    }
    It->Size = Expr(P.Sizes, It->Size.Id) + Expr(P.Sizes, O.Message.Id);
  }
}
