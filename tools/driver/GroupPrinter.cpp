// SPDX-License-Identifier: Apache-2.0
#include "tools/driver/GroupPrinter.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"

using namespace llvm;

namespace foretrace::driver {

GroupPrinter::GroupPrinter(const ir::Program &P, bool IsJSON, raw_ostream &OS)
    : P(P), IsJSON(IsJSON), OS(OS) {
  if (P.Spec.Cluster)
    Map.emplace(*P.Spec.Cluster);
}

void GroupPrinter::printGroups(const ir::ProcessGroup &G,
                               std::optional<int64_t> OfRank) {
  auto Object = [&](ArrayRef<int64_t> Ranks) {
    json::OStream J(OS);
    J.object([&] {
      J.attribute("group", G.Name);
      J.attributeArray("ranks", [&] {
        for (int64_t Rank : Ranks)
          J.value(Rank);
      });
      if (!Map)
        return;
      J.attribute("tier", P.Spec.Cluster->Tiers[Map->tierOf(Ranks)].Name);
      J.attribute("leaves_node", Map->leavesNode(Ranks));
    });
  };
  auto Line = [&](ArrayRef<int64_t> Ranks) {
    OS << formatv("{0,-10}", G.Name);
    for (int64_t Rank : Ranks)
      OS << ' ' << Rank;
  };
  ir::forEachGroup(G, P.Spec, P.Mesh, OfRank, [&](ArrayRef<int64_t> Ranks) {
    IsJSON ? Object(Ranks) : Line(Ranks);
    OS << '\n';
  });
}

void GroupPrinter::printObject(const ir::ProcessGroup &G,
                               const ir::GroupSpan &Span) {
  json::OStream J(OS);
  J.object([&] {
    J.attribute("group", G.Name);
    J.attribute("size", G.Group.size(P.Mesh));
    J.attribute("groups", Span.Groups);
    if (!Map)
      return;
    J.attribute("leave_node", Span.LeavingNode);
    J.attributeObject("tiers", [&] {
      for (auto [Tier, Groups] : zip(P.Spec.Cluster->Tiers, Span.ByTier))
        J.attribute(Tier.Name, Groups);
    });
  });
}

/// Tiers that join no group are left out, and the number where one joins all.
void GroupPrinter::printLine(const ir::ProcessGroup &G,
                             const ir::GroupSpan &Span) {
  OS << formatv("{0,-10} {1,8} {2,10}", G.Name, G.Group.size(P.Mesh),
                Span.Groups);
  if (!Map)
    return;
  OS << formatv(" {0,10}  ", Span.LeavingNode);
  ListSeparator LS;
  for (auto [Tier, Groups] : zip(P.Spec.Cluster->Tiers, Span.ByTier)) {
    if (Groups == 0)
      continue;
    OS << LS << Tier.Name;
    if (Groups != Span.Groups)
      OS << ' ' << Groups;
  }
}

void GroupPrinter::printKind(const ir::ProcessGroup &G) {
  if (G.Group.size(P.Mesh) == 1 || !G.IsUsed(P.Spec))
    return;
  ir::GroupSpan Span;
  if (Map)
    Span = Map->spanOf(G.Group, P.Mesh, *P.Spec.Parallel.RankOrder);
  else
    Span.Groups = G.Group.count(P.Mesh);
  IsJSON ? printObject(G, Span) : printLine(G, Span);
  OS << '\n';
}

void GroupPrinter::printHead() {
  if (!IsJSON)
    OS << formatv("{0,-10} {1,8} {2,10}{3}\n", "group", "size", "groups",
                  Map ? " leave node  tier" : "");
}

} // namespace foretrace::driver
