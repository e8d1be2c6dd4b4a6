// SPDX-License-Identifier: Apache-2.0
#include "tools/runs/Communicators.h"

using namespace llvm;

namespace foretrace::runs {

void Communicators::take(const TraceFile &Of, const Divergence &D) {
  const ir::ProcessGroup *Group = D.Group;
  if (!Group)
    return;
  std::vector<int64_t> Members = Group->Group.ranks(Map, Of.Rank);
  if (Members.size() == 1)
    return;
  First &F = Found[{Group - ir::allProcessGroups().begin(), Members.front()}];
  if (!F.Group.empty() && F.What.Place <= D.Place)
    return;
  F = {Group->Name, std::move(Members), Of.Path, Of.Rank, D};
}

std::vector<Communicators::First> Communicators::list() const {
  std::vector<First> Out;
  for (const auto &[Key, F] : Found)
    Out.push_back(F);
  return Out;
}

} // namespace foretrace::runs
