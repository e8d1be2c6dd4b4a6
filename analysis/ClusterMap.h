// SPDX-License-Identifier: Apache-2.0
//
// Where ranks stand on a cluster: rank r is device r mod devices_per_node of
// node r / devices_per_node, in every tier beside its neighbours. So a group of
// ranks is known by its first and its last one, and kinds of groups are counted
// by what is different about them, not group by group.
#ifndef FORETRACE_ANALYSIS_CLUSTERMAP_H
#define FORETRACE_ANALYSIS_CLUSTERMAP_H

#include "ir/model/Ranks.h"

namespace foretrace {

/// What groups of one kind need of a cluster.
struct GroupSpan {
  int64_t Groups = 0;
  /// Of these, those with members on more than one node.
  int64_t LeavingNode = 0;
  /// For each tier of the cluster, the groups that it and no tier inside it
  /// joins; they add up to Groups.
  std::vector<int64_t> ByTier;
};

/// Places the ranks of a job on a cluster after `derive`.
class ClusterMap {
public:
  explicit ClusterMap(const ir::ClusterSpec &C);

  int64_t nodeOf(int64_t Rank) const { return Rank / DevicesPerNode; }

  /// The innermost tier with all of \p Ranks in one domain, as an index into
  /// ClusterSpec::Tiers. There must be ranks.
  size_t tierOf(llvm::ArrayRef<int64_t> Ranks) const;
  /// Whether \p Ranks are on more than one node. There must be ranks.
  bool leavesNode(llvm::ArrayRef<int64_t> Ranks) const;

  /// What all groups of \p G's kind on \p M need, in the time of countPlaces.
  GroupSpan spanOf(const ir::Group &G, const ir::Mesh &M,
                   ir::RankOrderKind Order) const;

private:
  int64_t DevicesPerNode;
  std::vector<int64_t> DomainSizes; ///< devices, of each tier but the last
};

} // namespace foretrace

#endif
