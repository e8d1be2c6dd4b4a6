// SPDX-License-Identifier: Apache-2.0
//
// Links of a cluster that the messages of a job cross. The positions of ranks
// that send alike are sums of multiples of steps. Messages are therefore
// counted by the position of their sender in a domain, not one by one.
#pragma once

#include "ir/model/Ops.h"
#include "ir/model/Ranks.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace foretrace {

/// Pairs of group members that exchange messages, in rank order, as in the
/// first row of each kind of collective in ir/ranks/Algorithms.def.
enum class Route : unsigned char {
  Ring,     ///< each to the next, the last to the first
  Chain,    ///< each except the last to the next
  Exchange, ///< each to every other
};
Route routeOf(ir::OpKind Collective);
/// Returns the number of pairs of sender and receiver in a group of \p Ranks.
__int128 linkCount(Route By, int64_t Ranks);

/// Number of pairs of sender and receiver.
struct LinkSpan {
  __int128 Links = 0;
  __int128 LeavingNode = 0; ///< number of pairs on two nodes
  /// For each tier of the cluster, the number of pairs for which it is the
  /// innermost tier that joins them. The sum is Links. Empty without a cluster.
  std::vector<__int128> ByTier;
};

/// Pipeline stages [First, First + Count).
struct StageRange {
  int64_t First, Count;
};

/// Ranks that send alike: all ranks within ranges of the axes. Private to
/// analysis/Links.cpp.
class Senders;

/// Maps the ranks of a job to its cluster, if it has one
/// (analysis/ClusterMap.h).
class LinkMap {
public:
  LinkMap(const ir::Mesh &M, ir::RankOrderKind Order, const ir::ClusterSpec *C);

  /// Returns the links that ranks of \p Stages use within their groups of the
  /// kind of \p G, which have several ranks. As for ClusterMap::spanOf, the
  /// time hardly depends on the sizes; an exchange takes the time of the ranks
  /// of a group in a domain.
  LinkSpan within(const ir::Group &G, Route By, StageRange Stages) const;
  /// Returns the links from each rank of \p Stages to the rank \p Distance
  /// stages later.
  LinkSpan between(int64_t Distance, StageRange Stages) const;

  /// Returns the off-rail links, which leave a domain and whose ends have
  /// different positions in their domains. For each tier, counts the links of a
  /// ring in the groups of \p G that leave its domains and whose ends have
  /// different positions there, but equal positions in all domains inside.
  /// Empty without a cluster.
  std::vector<__int128> offRail(const ir::Group &G, StageRange Stages) const;
  /// Returns the off-rail links to the rank \p Distance stages later.
  std::vector<__int128> offRail(int64_t Distance, StageRange Stages) const;

private:
  /// Ranks that send over the same distance.
  using Visitor = llvm::function_ref<void(const Senders &, int64_t Distance)>;

  int64_t step(ir::Axis A) const { return M[A] == 1 ? 0 : Map.at(0, {A}, 1); }
  /// Number of devices in a domain of each tier except the last.
  llvm::ArrayRef<int64_t> tierSizes() const {
    return llvm::ArrayRef(Sizes).drop_front(Sizes.empty() ? 0 : 1);
  }
  /// Splits the ranks of \p Stages along the axes of \p G and the other axes.
  Senders sendersOf(const ir::Group &G, StageRange Stages) const;
  void forEachOfPair(const ir::Group &G, Route By, const Senders &All,
                     Visitor Visit) const;
  void forEachNext(const ir::Group &G, Route By, Senders From,
                   Visitor Visit) const;
  std::optional<int64_t> sharing(const ir::Group &G, int64_t Size) const;
  void forEachOther(llvm::ArrayRef<ir::Axis> Axes, int64_t Size,
                    const Senders &From, int64_t Distance, Visitor Visit) const;
  void addOffRail(const Senders &From, int64_t Distance,
                  std::vector<__int128> &ByTier) const;
  LinkSpan span(__int128 Links,
                llvm::function_ref<__int128(int64_t Size)> Together) const;

  ir::Mesh M;
  ir::RankMap Map;
  int64_t Ranks;
  /// Numbers of devices of a node, and of the domains of each tier except the
  /// last.
  std::vector<int64_t> Sizes;
};

} // namespace foretrace
