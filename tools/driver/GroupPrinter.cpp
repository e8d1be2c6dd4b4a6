// SPDX-License-Identifier: Apache-2.0
#include "tools/driver/GroupPrinter.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"

using namespace llvm;

namespace foretrace::driver {

/// Returns the columns; tables of ranks have no tiers, as ranks fill the line.
static std::vector<RowColumn> columnsOf(bool HasCluster, bool AreKinds,
                                        RowFormat As) {
  std::vector<RowColumn> All = {{"group", false, 12, " "}};
  if (AreKinds) {
    All.push_back({"size", true, 8, " "});
    All.push_back({"groups", true, 10, " "});
    if (HasCluster)
      All.insert(All.end(), {{"leave_node", true, 10}, {"tier"}});
    return All;
  }
  All.push_back({"ranks"});
  if (HasCluster && As != RowFormat::Table)
    All.insert(All.end(), {{"tier"}, {"leaves_node"}});
  return All;
}

GroupPrinter::GroupPrinter(const ir::Program &P, bool AreKinds, RowFormat As,
                           raw_ostream &OS)
    : P(P), As(As), OS(OS),
      Rows(columnsOf(P.Spec.Cluster.has_value(), AreKinds, As), As, OS,
           AreKinds) {
  if (P.Spec.Cluster)
    Map.emplace(*P.Spec.Cluster);
}

StringRef GroupPrinter::tierOf(ArrayRef<int64_t> Ranks) const {
  return P.Spec.Cluster->Tiers[Map->tierOf(Ranks)].Name;
}

void GroupPrinter::printGroups(const ir::ProcessGroup &G,
                               std::optional<int64_t> OfRank) {
  ir::forEachGroup(G, P.Spec, P.Mesh, OfRank, [&](ArrayRef<int64_t> Ranks) {
    As == RowFormat::JSON ? printObject(G, Ranks) : printLine(G, Ranks);
  });
}

void GroupPrinter::printObject(const ir::ProcessGroup &G,
                               ArrayRef<int64_t> Ranks) {
  json::OStream J(OS);
  J.object([&] {
    J.attribute("group", G.Name);
    J.attributeArray("ranks", [&] {
      for (int64_t Rank : Ranks)
        J.value(Rank);
    });
    if (!Map)
      return;
    J.attribute("tier", tierOf(Ranks));
    J.attribute("leaves_node", Map->leavesNode(Ranks));
  });
  OS << '\n';
}

void GroupPrinter::printLine(const ir::ProcessGroup &G,
                             ArrayRef<int64_t> Ranks) {
  std::vector<std::string> Row = {G.Name.str(), ""};
  for (const int64_t Rank : Ranks)
    Row.back() += (Row.back().empty() ? "" : " ") + std::to_string(Rank);
  if (Map && As != RowFormat::Table) {
    Row.push_back(tierOf(Ranks).str());
    Row.push_back(Map->leavesNode(Ranks) ? "true" : "false");
  }
  Rows.write(Row);
}

void GroupPrinter::printObject(const ir::ProcessGroup &G,
                               const GroupSpan &Span) {
  json::OStream J(OS);
  J.object([&] {
    J.attribute("group", G.Name);
    J.attribute("size", G.Group.size(P.Mesh));
    J.attribute("groups", Span.Groups);
    if (!Map)
      return;
    J.attribute("leave_node", Span.LeavingNode);
    J.attributeArray("tiers", [&] {
      for (auto [Tier, Groups] : zip(P.Spec.Cluster->Tiers, Span.ByTier))
        J.object([&, &Tier = Tier, &Count = Groups] {
          J.attribute("tier", Tier.Name);
          J.attribute("groups", Count);
        });
    });
  });
  OS << '\n';
}

/// Tiers that join no group are left out, and the number where one joins all.
void GroupPrinter::printLine(const ir::ProcessGroup &G, const GroupSpan &Span) {
  std::vector<std::string> Row = {G.Name.str(),
                                  std::to_string(G.Group.size(P.Mesh)),
                                  std::to_string(Span.Groups)};
  if (!Map)
    return Rows.write(Row);
  std::vector<std::string> Tiers;
  for (auto [Tier, Groups] : zip(P.Spec.Cluster->Tiers, Span.ByTier))
    if (Groups != 0)
      Tiers.push_back(Groups == Span.Groups
                          ? Tier.Name
                          : Tier.Name + " " + std::to_string(Groups));
  Row.push_back(std::to_string(Span.LeavingNode));
  Row.push_back(join(Tiers, ", "));
  Rows.write(Row);
}

void GroupPrinter::printKind(const ir::ProcessGroup &G) {
  if (G.Group.size(P.Mesh) == 1 || !G.IsUsed(P.Spec))
    return;
  GroupSpan Span;
  if (Map)
    Span = Map->spanOf(G.Group, P.Mesh, *P.Spec.Parallel.RankOrder);
  else
    Span.Groups = G.Group.count(P.Mesh);
  As == RowFormat::JSON ? printObject(G, Span) : printLine(G, Span);
}

} // namespace foretrace::driver
