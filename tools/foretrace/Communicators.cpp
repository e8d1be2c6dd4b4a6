// SPDX-License-Identifier: Apache-2.0
#include "tools/foretrace/Communicators.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace llvm;

namespace foretrace {

void Communicators::take(const Trace &Of, const megatron::Divergence &D) {
  const StringRef Name = StringSwitch<StringRef>(D.Group)
#define GROUP_KIND(KIND, GROUP) .Case(KIND, GROUP)
#include "backends/megatron/GroupKinds.def"
                             .Default("");
  ArrayRef<ir::ProcessGroup> Groups = ir::allProcessGroups();
  const auto *Group = find_if(
      Groups, [&](const ir::ProcessGroup &G) { return G.Name == Name; });
  if (Group == Groups.end())
    return;
  std::vector<int64_t> Members = Group->members(Map, Of.Rank);
  First &F = Found[{Group - Groups.begin(), Members.front()}];
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

} // namespace foretrace
