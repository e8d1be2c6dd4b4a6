// SPDX-License-Identifier: Apache-2.0
//
// Placement of ranks on a cluster. Rank r is device r mod devices_per_node of
// node r / devices_per_node, so every tier joins consecutive ranks. The first
// and the last rank of a group therefore determine its tier, and kinds of
// groups are counted by their differences, not group by group.
#pragma once

#include "ir/model/Ranks.h"

namespace foretrace {

/// Use of a cluster by the groups of one kind.
struct GroupSpan {
  int64_t Groups = 0;
  /// Number of these groups with members on more than one node.
  int64_t LeavingNode = 0;
  /// For each tier of the cluster, the number of groups for which it is the
  /// innermost tier that joins them. The sum is Groups.
  std::vector<int64_t> ByTier;
};

/// Maps the ranks of a job to a cluster, after `derive`.
class ClusterMap {
public:
  explicit ClusterMap(const ir::ClusterSpec &C);

  int64_t nodeOf(int64_t Rank) const { return Rank / DevicesPerNode; }

  /// Returns the innermost tier that has all of \p Ranks in one domain, as an
  /// index into ClusterSpec::Tiers. \p Ranks must not be empty.
  size_t tierOf(llvm::ArrayRef<int64_t> Ranks) const;
  /// Returns whether \p Ranks are on more than one node. \p Ranks must not be
  /// empty.
  bool leavesNode(llvm::ArrayRef<int64_t> Ranks) const;

  /// Counts the use of the cluster by all groups of the kind of \p G on \p M,
  /// in the time of countPlaces.
  GroupSpan spanOf(const ir::Group &G, const ir::Mesh &M,
                   ir::RankOrderKind Order) const;

private:
  int64_t DevicesPerNode;
  std::vector<int64_t> DomainSizes; ///< devices, of each tier but the last
};

} // namespace foretrace
