// SPDX-License-Identifier: Apache-2.0
//
// A line of ranks is known by its first rank: all others are as far from it on
// every line. Whether it crosses from one domain into another depends on where
// in its domain the first rank stands, so lines are counted by that place.
#include "analysis/ClusterMap.h"
#include "analysis/Places.h"
#include "llvm/ADT/STLExtras.h"

using namespace foretrace;
using namespace foretrace::ir;

namespace {

/// The first and the last rank of a group, as seen from the first of its line.
struct Ends {
  int64_t First, Last;
};

} // namespace

/// The ends of each group of a line.
static std::vector<Ends> groupsOfLine(const Group &G, const RankMap &Map) {
  const int64_t Length = Map.lengthOf(G.Axes);
  if (G.Members != GroupMembers::Pairs)
    return {{0, Map.at(0, G.Axes, Length - 1)}};
  std::vector<Ends> Groups;
  for (int64_t I = 0; I <= Length - 1 - I; ++I)
    Groups.push_back({Map.at(0, G.Axes, I), Map.at(0, G.Axes, Length - 1 - I)});
  return Groups;
}

/// Groups that are not within one domain of \p Size devices.
static int64_t countCrossing(const Group &G, const RankMap &Map, const Mesh &M,
                             int64_t Size) {
  const AxisList Beside = axesBeside(G.Axes);
  if (M.groupSize(Beside) <= Size / M.groupSize(G.Axes))
    return 0; // a domain holds all ranks
  llvm::SmallVector<PlaceRow, 4> Lines;
  for (Axis A : Beside)
    if (M[A] != 1)
      Lines.push_back({Map.at(0, {A}, 1), M[A]});
  int64_t Crossing = 0;
  for (const Ends &E : groupsOfLine(G, Map))
    Crossing += M.groupSize(Beside) -
                static_cast<int64_t>(countPlaces(
                    Lines, E.First, Size - (E.Last - E.First), Size));
  return Crossing;
}

ClusterMap::ClusterMap(const ClusterSpec &C)
    : DevicesPerNode(*C.DevicesPerNode) {
  for (const TierSpec &T : llvm::ArrayRef(C.Tiers).drop_back())
    DomainSizes.push_back(*T.Devices);
}

size_t ClusterMap::tierOf(llvm::ArrayRef<int64_t> Ranks) const {
  auto [Least, Most] = std::minmax_element(Ranks.begin(), Ranks.end());
  size_t Tier = 0;
  while (Tier < DomainSizes.size() &&
         *Least / DomainSizes[Tier] != *Most / DomainSizes[Tier])
    ++Tier;
  return Tier;
}

bool ClusterMap::leavesNode(llvm::ArrayRef<int64_t> Ranks) const {
  auto [Least, Most] = std::minmax_element(Ranks.begin(), Ranks.end());
  return nodeOf(*Least) != nodeOf(*Most);
}

GroupSpan ClusterMap::spanOf(const Group &G, const Mesh &M,
                             RankOrderKind Order) const {
  const RankMap Map(M, Order);
  GroupSpan Span;
  Span.Groups = G.count(M);
  Span.LeavingNode = countCrossing(G, Map, M, DevicesPerNode);
  int64_t Left = Span.Groups; // that no tier so far joins
  for (int64_t Size : DomainSizes) {
    const int64_t Crossing = countCrossing(G, Map, M, Size);
    Span.ByTier.push_back(Left - Crossing);
    Left = Crossing;
  }
  Span.ByTier.push_back(Left);
  return Span;
}
