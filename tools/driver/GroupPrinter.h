// SPDX-License-Identifier: Apache-2.0
//
// Who talks with whom in a job, and over which tiers of its cluster, as rows
// or as JSON objects.
#pragma once

#include "analysis/ClusterMap.h"
#include "ir/model/Program.h"
#include "lang/RowWriter.h"
#include <optional>

namespace foretrace::driver {

/// Prints groups of a job after `derive`, which must outlive it. What tiers
/// they need is said if the job has a cluster.
class GroupPrinter {
public:
  /// For printKind if \p AreKinds, else for printGroups.
  GroupPrinter(const ir::Program &P, bool AreKinds, RowFormat As,
               llvm::raw_ostream &OS);

  /// A line for each group of that kind, or only for the one of \p OfRank: its
  /// ranks; for programs also its tier, and whether it leaves a node.
  void printGroups(const ir::ProcessGroup &G, std::optional<int64_t> OfRank);
  /// A line for the kind, if anybody talks in it: ranks of a group, groups, how
  /// many leave a node, the tiers that join them.
  void printKind(const ir::ProcessGroup &G);

private:
  llvm::StringRef tierOf(llvm::ArrayRef<int64_t> Ranks) const;
  void printLine(const ir::ProcessGroup &G, llvm::ArrayRef<int64_t> Ranks);
  void printObject(const ir::ProcessGroup &G, llvm::ArrayRef<int64_t> Ranks);
  void printLine(const ir::ProcessGroup &G, const GroupSpan &Span);
  void printObject(const ir::ProcessGroup &G, const GroupSpan &Span);

  const ir::Program &P;
  std::optional<ClusterMap> Map; ///< if the job has a cluster
  const RowFormat As;
  llvm::raw_ostream &OS;
  RowWriter Rows;
};

} // namespace foretrace::driver
