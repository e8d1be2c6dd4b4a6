// SPDX-License-Identifier: Apache-2.0
#include "analysis/ExpertPlacement.h"
#include "ir/model/Routing.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>
#include <queue>
#include <set>

using namespace foretrace;
using llvm::APInt;

/// Bits of a number of tokens.
static constexpr unsigned TokenBits = 128;

static APInt wide(__int128 Number, unsigned Bits) {
  const auto Of = static_cast<unsigned __int128>(Number);
  return APInt(TokenBits,
               {static_cast<uint64_t>(Of), static_cast<uint64_t>(Of >> 64)})
      .zext(Bits);
}

using Bins = std::vector<std::vector<size_t>>;

/// Packs as many items into each of \p Count bins: the heaviest first, each
/// into the lightest bin with room. If a bin has room for one, in order. Of
/// equal items or bins, the first is taken.
static Bins pack(llvm::ArrayRef<APInt> Items, size_t Count) {
  const size_t Room = Items.size() / Count;
  Bins Packed(Count);
  std::vector<size_t> Order(Items.size());
  std::iota(Order.begin(), Order.end(), 0);
  if (Room == 1) {
    for (const size_t Item : Order)
      Packed[Item] = {Item};
    return Packed;
  }
  llvm::stable_sort(Order,
                    [&](size_t A, size_t B) { return Items[A].ugt(Items[B]); });
  using Bin = std::pair<APInt, size_t>;
  auto IsLater = [](const Bin &A, const Bin &B) {
    return A.first == B.first ? A.second > B.second : A.first.ugt(B.first);
  };
  std::priority_queue<Bin, std::vector<Bin>, decltype(IsLater)> Open(IsLater);
  for (size_t I = 0; I < Count; ++I)
    Open.emplace(APInt(Items.front().getBitWidth(), 0), I);
  for (const size_t Item : Order) {
    const auto [Weight, Lightest] = Open.top();
    Open.pop();
    Packed[Lightest].push_back(Item);
    if (Packed[Lightest].size() < Room)
      Open.emplace(Weight + Items[Item], Lightest);
  }
  return Packed;
}

/// Appends copies to the experts of a node until there are \p Count: each of
/// the expert whose copies have the most tokens, or the first of equal ones.
static void addCopies(llvm::ArrayRef<__int128> Tokens, size_t Count,
                      std::vector<size_t> &Experts,
                      std::vector<int64_t> &Copies) {
  auto IsLater = [&](size_t A, size_t B) { // by the place in the node
    const size_t Of = Experts[A], Other = Experts[B];
    const __int128 L = Tokens[Of] * Copies[Other],
                   R = Tokens[Other] * Copies[Of];
    return L == R ? A > B : L < R;
  };
  std::priority_queue<size_t, std::vector<size_t>, decltype(IsLater)> Busiest(
      IsLater);
  for (size_t I = 0; I < Experts.size(); ++I)
    Busiest.push(I);
  while (Experts.size() < Count) {
    const size_t Place = Busiest.top();
    Busiest.pop();
    Experts.push_back(Experts[Place]);
    ++Copies[Experts[Place]];
    Busiest.push(Place);
  }
}

/// Returns the experts of each node: those of as many groups.
static Bins packGroups(llvm::ArrayRef<__int128> Tokens, size_t Groups,
                       size_t Nodes) {
  const size_t Size = Tokens.size() / Groups;
  std::vector<APInt> Sums;
  for (size_t G = 0; G < Groups; ++G) {
    const llvm::ArrayRef<__int128> Of = Tokens.slice(G * Size, Size);
    Sums.push_back(
        wide(std::accumulate(Of.begin(), Of.end(), __int128(0)), TokenBits));
  }
  Bins Experts;
  for (const std::vector<size_t> &Node : pack(Sums, Nodes)) {
    std::vector<size_t> &Of = Experts.emplace_back();
    for (const size_t G : Node)
      for (size_t I = 0; I < Size; ++I)
        Of.push_back(G * Size + I);
  }
  return Experts;
}

ExpertPlacement foretrace::placeExperts(llvm::ArrayRef<__int128> Tokens,
                                        const PlacementSizes &Of) {
  const bool IsByNode = Of.Groups % Of.Nodes == 0;
  const auto Nodes = static_cast<size_t>(IsByNode ? Of.Nodes : 1);
  ExpertPlacement P;
  P.Copies.assign(Tokens.size(), 1);
  Bins OfNodes =
      packGroups(Tokens, static_cast<size_t>(IsByNode ? Of.Groups : 1), Nodes);
  for (std::vector<size_t> &Node : OfNodes)
    addCopies(Tokens, static_cast<size_t>(Of.Slots) / Nodes, Node, P.Copies);
  // All loads are whole numbers of 1 / Unit tokens.
  const std::set<int64_t> Counts(P.Copies.begin(), P.Copies.end());
  unsigned Bits = TokenBits;
  for (const int64_t Count : Counts)
    Bits += llvm::Log2_64(static_cast<uint64_t>(Count)) + 1;
  P.Unit = APInt(Bits, 1);
  for (const int64_t Count : Counts)
    P.Unit *= static_cast<uint64_t>(Count);
  for (const std::vector<size_t> &Node : OfNodes) {
    std::vector<APInt> Loads;
    for (const size_t Expert : Node)
      Loads.push_back(wide(Tokens[Expert], Bits) *
                      P.Unit.udiv(static_cast<uint64_t>(P.Copies[Expert])));
    for (const std::vector<size_t> &Rank :
         pack(Loads, static_cast<size_t>(Of.Ranks) / Nodes)) {
      P.Loads.emplace_back(Bits, 0);
      for (const size_t Copy : Rank)
        P.Loads.back() += Loads[Copy];
    }
  }
  return P;
}

ExpertPlacement foretrace::placeInOrder(llvm::ArrayRef<__int128> Tokens,
                                        int64_t Ranks) {
  ExpertPlacement P;
  P.Copies.assign(Tokens.size(), 1);
  P.Loads.assign(static_cast<size_t>(Ranks), APInt(TokenBits, 0));
  P.Unit = APInt(TokenBits, 1);
  for (const auto &[Expert, Of] : llvm::enumerate(Tokens))
    P.Loads[Expert / (Tokens.size() / P.Loads.size())] += wide(Of, TokenBits);
  return P;
}

std::string ExpertPlacement::busiest() const {
  const APInt &Most = *llvm::max_element(
      Loads, [](const APInt &A, const APInt &B) { return A.ult(B); });
  const APInt Common = llvm::APIntOps::GreatestCommonDivisor(Most, Unit);
  return toString(Most.udiv(Common), 10, false) + "/" +
         toString(Unit.udiv(Common), 10, false);
}

std::vector<int64_t> ExpertPlacement::relativeLoads(__int128 All) const {
  const unsigned Bits = Unit.getBitWidth() + TokenBits;
  const APInt Whole = Unit.zext(Bits) * wide(All, Bits);
  std::vector<int64_t> Of;
  for (const APInt &Load : Loads)
    Of.push_back((Load.zext(Bits) * Loads.size() * ir::MeanLoad)
                     .udiv(Whole)
                     .getSExtValue());
  return Of;
}
