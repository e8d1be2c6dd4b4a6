// SPDX-License-Identifier: Apache-2.0
//
// Over which links of a cluster the messages of a job go. Ranks that send alike
// stand at sums of multiples of steps; so messages are counted by where in a
// domain their senders stand, not one by one.
#ifndef FORETRACE_ANALYSIS_LINKS_H
#define FORETRACE_ANALYSIS_LINKS_H

#include "ir/model/Ops.h"
#include "ir/model/Ranks.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace foretrace {

/// Between which members of a group messages go: as the first row of each kind
/// of collective in ir/ranks/Algorithms.def does it, in the order of their
/// ranks.
enum class Route : unsigned char {
  Ring,     ///< each to the next, the last to the first
  Chain,    ///< each but the last to the next
  Exchange, ///< each to each other
};
Route routeOf(ir::OpKind Collective);
/// Pairs of a sender and a receiver in a group of \p Ranks.
__int128 linkCount(Route By, int64_t Ranks);

/// Pairs of a sender and a receiver.
struct LinkSpan {
  __int128 Links = 0;
  __int128 LeavingNode = 0; ///< of these, those on two nodes
  /// For each tier of the cluster those that it and no tier inside it joins;
  /// they add up to Links. None without a cluster.
  std::vector<__int128> ByTier;
};

/// Pipeline stages [First, First + Count).
struct StageRange {
  int64_t First, Count;
};

/// Ranks that send alike: all within ranges of the axes. Of analysis/Links.cpp
/// alone.
class Senders;

/// The ranks of a job, on its cluster if it has one (analysis/ClusterMap.h).
class LinkMap {
public:
  LinkMap(const ir::Mesh &M, ir::RankOrderKind Order, const ir::ClusterSpec *C);

  /// The links that ranks of \p Stages send over within their groups of \p G's
  /// kind, which have several ranks. As for ClusterMap::spanOf, its time hardly
  /// grows with any of them; an exchange takes that of a group's ranks in a
  /// domain.
  LinkSpan within(const ir::Group &G, Route By, StageRange Stages) const;
  /// From each rank of \p Stages to the one that is \p Distance stages on.
  LinkSpan between(int64_t Distance, StageRange Stages) const;

  /// Off-rail links: those that leave a domain in which their two ends have
  /// different places. For each tier, counts the links of a ring in \p G's
  /// groups that leave its domains, but whose ends already differ in their
  /// places there and in no domain inside. None without a cluster.
  std::vector<__int128> offRail(const ir::Group &G, StageRange Stages) const;
  /// The same of links to the rank that is \p Distance stages on.
  std::vector<__int128> offRail(int64_t Distance, StageRange Stages) const;

private:
  /// Ranks that send as far.
  using Visitor = llvm::function_ref<void(const Senders &, int64_t Distance)>;

  int64_t step(ir::Axis A) const { return M[A] == 1 ? 0 : Map.at(0, {A}, 1); }
  /// Devices of the domains of each tier but the last.
  llvm::ArrayRef<int64_t> tierSizes() const {
    return llvm::ArrayRef(Sizes).drop_front(Sizes.empty() ? 0 : 1);
  }
  /// Of \p Stages, seen along the axes of \p G and beside them.
  Senders sendersOf(const ir::Group &G, StageRange Stages) const;
  void forEachOfPair(const ir::Group &G, Route By, const Senders &All,
                     Visitor Visit) const;
  void forEachNext(const ir::Group &G, Route By, Senders From,
                   Visitor Visit) const;
  void forEachOther(llvm::ArrayRef<ir::Axis> Axes, int64_t Size,
                    const Senders &From, int64_t Distance, Visitor Visit) const;
  void addOffRail(const Senders &From, int64_t Distance,
                  std::vector<__int128> &ByTier) const;
  LinkSpan span(__int128 Links,
                llvm::function_ref<__int128(int64_t Size)> Together) const;

  ir::Mesh M;
  ir::RankMap Map;
  int64_t Ranks;
  /// Devices of a node, and of the domains of each tier but the last.
  std::vector<int64_t> Sizes;
};

} // namespace foretrace

#endif
