// SPDX-License-Identifier: Apache-2.0
#include "backends/report/Parts.h"
#include "ir/model/Ranks.h"
#include "llvm/ADT/STLExtras.h"
#include <set>

using namespace foretrace;
using namespace foretrace::ir;

/// Nodes at the beginning of a job, those where the first and last stages
/// begin, and the last one.
static std::set<int64_t> nodesToShow(const Program &P, const RankMap &Map,
                                     int64_t DevicesPerNode) {
  constexpr int64_t AtEnds = 4;
  const int64_t World = *P.Spec.Parallel.World;
  const int64_t Nodes = (World + DevicesPerNode - 1) / DevicesPerNode;
  std::set<int64_t> Shown;
  for (int64_t Node = 0; Node < std::min(Nodes, AtEnds); ++Node)
    Shown.insert(Node);
  const int64_t Stages = P.Schedule.Stages;
  for (int64_t Stage = 0; Stage < Stages; ++Stage) {
    if (Stage >= AtEnds && Stage < Stages - AtEnds)
      Stage = Stages - AtEnds;
    Shown.insert(Map.at(0, {Axis::Pp}, Stage) / DevicesPerNode);
  }
  Shown.insert(Nodes - 1);
  return Shown;
}

void report::writeNodes(const Program &P, llvm::json::OStream &J) {
  constexpr int64_t MostUsual = 8; // of a node without a description
  constexpr int64_t MostShown = 128;
  const bool IsKnown = P.Spec.Cluster.has_value();
  const int64_t World = *P.Spec.Parallel.World;
  const int64_t DevicesPerNode =
      IsKnown ? *P.Spec.Cluster->DevicesPerNode : MostUsual;
  const RankMap Map(P.Mesh, *P.Spec.Parallel.RankOrder);
  std::vector<const ProcessGroup *> Groups;
  for (const ProcessGroup &G : allProcessGroups())
    if (G.Group.size(P.Mesh) > 1 && G.IsUsed(P.Spec))
      Groups.push_back(&G);
  auto Rank = [&](int64_t R) {
    J.attribute("rank", R);
    J.attributeArray("at", [&] {
      for (const Axis A : allAxes())
        J.value(Map.coordinate(R, A));
    });
    J.attributeArray("groups", [&] {
      for (const ProcessGroup *G : Groups)
        J.value(G->Group.number(Map, R));
    });
  };
  J.attributeObject("nodes", [&] {
    J.attribute("are_known", IsKnown);
    J.attribute("devices_per_node", DevicesPerNode);
    J.attribute("count", (World + DevicesPerNode - 1) / DevicesPerNode);
    J.attributeArray("groups", [&] {
      for (const ProcessGroup *G : Groups)
        J.value(G->Name);
    });
    J.attributeArray("shown", [&] {
      for (const int64_t Node : nodesToShow(P, Map, DevicesPerNode))
        J.object([&] {
          J.attribute("node", Node);
          J.attributeArray("ranks", [&] {
            const int64_t First = Node * DevicesPerNode;
            const int64_t Ranks = std::min(DevicesPerNode, MostShown);
            for (int64_t R = First; R < std::min(World, First + Ranks); ++R)
              J.object([&] { Rank(R); });
          });
        });
    });
  });
}
