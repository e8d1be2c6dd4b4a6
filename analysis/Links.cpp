// SPDX-License-Identifier: Apache-2.0
//
// Ranks stand along each axis at multiples of a step. Those that send as far
// are all within ranges of the axes; how many of them share a domain with the
// receiver is counted a row of ranks at once.
#include "analysis/Links.h"
#include "analysis/Places.h"
#include "ir/model/OpKinds.h"
#include "llvm/ADT/STLExtras.h"

using namespace foretrace;
using namespace foretrace::ir;

using AxisRef = llvm::ArrayRef<Axis>;

Route foretrace::routeOf(OpKind Collective) {
  switch (Collective) {
  case OpKind::AllToAll:
    return Route::Exchange;
  case OpKind::Broadcast:
    return Route::Chain;
  default:
    return Route::Ring;
  }
}

__int128 foretrace::linkCount(Route By, int64_t Ranks) {
  switch (By) {
  case Route::Ring:
    return Ranks;
  case Route::Chain:
    return Ranks - 1;
  case Route::Exchange:
    return static_cast<__int128>(Ranks) * (Ranks - 1);
  }
  llvm_unreachable("every route is handled");
}

class foretrace::Senders {
public:
  /// All \p Count ranks along \p A, which are \p Step apart.
  void add(Axis A, int64_t Step, int64_t Count) {
    Along.push_back({A, Step, 0, Count});
  }
  /// Keeps only those at [\p First, \p First + \p Count) along \p A.
  void keep(Axis A, int64_t First, int64_t Count);
  __int128 count() const;
  auto begin() const { return Along.begin(); }
  auto end() const { return Along.end(); }

private:
  struct Range {
    Axis Of;
    int64_t Step, First, Count;
  };
  llvm::SmallVector<Range, 4> Along;
};

/// Returns how many of \p From share a domain with the rank \p Distance on.
static __int128 together(int64_t Size, const Senders &From, int64_t Distance) {
  int64_t First = std::min<int64_t>(Distance, 0);
  llvm::SmallVector<PlaceRow, 4> Rows;
  for (const auto &R : From) {
    First += R.First * R.Step;
    Rows.push_back({R.Step, R.Count});
  }
  return countPlaces(std::move(Rows), First, Size - std::abs(Distance), Size);
}

void Senders::keep(Axis A, int64_t First, int64_t Count) {
  for (Range &R : Along) {
    if (R.Of != A)
      continue;
    const int64_t End = std::min(R.First + R.Count, First + Count);
    R.First = std::max(R.First, First);
    R.Count = std::max<int64_t>(End - R.First, 0);
  }
}

__int128 Senders::count() const {
  __int128 Product = 1;
  for (const Range &R : Along)
    Product *= R.Count;
  return Product;
}

LinkMap::LinkMap(const Mesh &M, RankOrderKind Order, const ClusterSpec *C)
    : M(M), Map(M, Order), Ranks(M.groupSize({Axis::Tp, Axis::Cp, Axis::Dp,
                                              Axis::DpReplicate, Axis::Pp})) {
  if (!C)
    return;
  Sizes.push_back(*C->DevicesPerNode);
  for (const TierSpec &T : llvm::ArrayRef(C->Tiers).drop_back())
    Sizes.push_back(*T.Devices);
}

Senders LinkMap::sendersOf(const Group &G, StageRange Stages) const {
  Senders All;
  AxisList Axes = axesBeside(G.Axes);
  Axes.append(G.Axes.begin(), G.Axes.end());
  for (Axis A : Axes)
    All.add(A, step(A), M[A]);
  All.keep(Axis::Pp, Stages.First, Stages.Count);
  return All;
}

/// The two ends of a line, or each two that are as far from them.
void LinkMap::forEachOfPair(const Group &G, Route By, const Senders &All,
                            Visitor Visit) const {
  const int64_t Last = Map.lengthOf(G.Axes) - 1;
  const bool IsEnds = G.Members == GroupMembers::Ends;
  for (int64_t I = 0; I <= Last; I += IsEnds ? Last : 1) {
    if (I == Last - I || (By == Route::Chain && Last - I < I))
      continue;
    Senders Here = All;
    int64_t Position = I;
    for (Axis A : G.Axes) {
      Here.keep(A, Position % M[A], 1);
      Position /= M[A];
    }
    Visit(Here, Map.at(0, G.Axes, Last - I) - Map.at(0, G.Axes, I));
  }
}

/// Where the coordinate along an axis grows, those along the axes before it
/// begin again.
void LinkMap::forEachNext(const Group &G, Route By, Senders From,
                          Visitor Visit) const {
  int64_t Back = 0;
  for (Axis A : G.Axes) {
    Senders Here = From;
    Here.keep(A, 0, M[A] - 1);
    Visit(Here, step(A) - Back);
    Back += (M[A] - 1) * step(A);
    From.keep(A, M[A] - 1, 1);
  }
  if (By == Route::Ring)
    Visit(From, -Back);
}

/// To all that are less than \p Size ranks away, and some others.
void LinkMap::forEachOther(AxisRef Axes, int64_t Size, const Senders &From,
                           int64_t Distance, Visitor Visit) const {
  if (Axes.empty()) {
    if (Distance != 0)
      Visit(From, Distance);
    return;
  }
  const Axis A = Axes.back();
  const AxisRef Others = Axes.drop_back();
  const int64_t Step = std::max<int64_t>(step(A), 1), Most = M[A] - 1;
  int64_t Reach = Size;
  for (Axis B : Others)
    Reach += (M[B] - 1) * step(B);
  for (int64_t By = std::max(-Most, (-Reach - Distance) / Step);
       By <= std::min(Most, (Reach - Distance) / Step); ++By) {
    Senders Here = From;
    Here.keep(A, std::max<int64_t>(-By, 0), M[A] - std::abs(By));
    forEachOther(Others, Size, Here, Distance + By * Step, Visit);
  }
}

/// Returns how many ranks of a group share a domain of \p Size; nothing if that
/// is not the same for all. A rank is a number with a digit for
/// each axis: domains that end between two of its digits, or divide one, have
/// as many of each.
std::optional<int64_t> LinkMap::sharing(const Group &G, int64_t Size) const {
  int64_t Number = 1;
  AxisList Axes = axesBeside(G.Axes);
  Axes.append(G.Axes.begin(), G.Axes.end());
  for (const Axis A : Axes) {
    const int64_t Step = step(A), End = Step * M[A];
    if (M[A] == 1 || Step % Size == 0)
      continue;
    if (Size % Step != 0 || (Size % End != 0 && End % Size != 0))
      return std::nullopt;
    if (llvm::is_contained(G.Axes, A))
      Number *= std::min(Size, End) / Step;
  }
  return Number;
}

LinkSpan
LinkMap::span(__int128 Links,
              llvm::function_ref<__int128(int64_t Size)> Together) const {
  LinkSpan Span{Links, 0, {}};
  if (Sizes.empty())
    return Span;
  auto Joined = [&](int64_t Size) {
    return Size < Ranks ? Together(Size) : Links;
  };
  Span.LeavingNode = Links - Joined(Sizes.front());
  __int128 Inside = 0; // of a domain of the tiers so far
  for (int64_t Size : llvm::drop_begin(Sizes)) {
    const __int128 Now = Joined(Size);
    Span.ByTier.push_back(Now - Inside);
    Inside = Now;
  }
  Span.ByTier.push_back(Links - Inside);
  return Span;
}

LinkSpan LinkMap::within(const Group &G, Route By, StageRange Stages) const {
  const Senders All = sendersOf(G, Stages);
  auto ForEach = [&](int64_t Size, Visitor Visit) {
    if (G.Members != GroupMembers::All)
      forEachOfPair(G, By, All, Visit);
    else if (By == Route::Exchange)
      forEachOther(G.Axes, Size, All, 0, Visit);
    else
      forEachNext(G, By, All, Visit);
  };
  __int128 Links = 0;
  if (G.Members == GroupMembers::All && By == Route::Exchange)
    Links = All.count() * (G.size(M) - 1);
  else
    ForEach(Ranks, [&](const Senders &S, int64_t) { Links += S.count(); });
  return span(Links, [&](int64_t Size) {
    if (const auto Sharing =
            G.Members == GroupMembers::All && By == Route::Exchange
                ? sharing(G, Size)
                : std::nullopt)
      return All.count() * (*Sharing - 1);
    __int128 Sum = 0;
    ForEach(Size, [&](const Senders &S, int64_t Distance) {
      if (S.count() != 0)
        Sum += together(Size, S, Distance);
    });
    return Sum;
  });
}

LinkSpan LinkMap::between(int64_t Distance, StageRange Stages) const {
  const Senders All = sendersOf({{Axis::Pp}}, Stages);
  return span(All.count(), [&](int64_t Size) {
    return together(Size, All, Distance * step(Axis::Pp));
  });
}

/// The places of two ranks in their domains are equal if the size of a domain
/// divides their distance.
void LinkMap::addOffRail(const Senders &From, int64_t Distance,
                         std::vector<__int128> &ByTier) const {
  for (const auto [Size, Links] : llvm::zip(tierSizes(), ByTier)) {
    if (Distance % Size == 0)
      continue;
    if (Size < Ranks && From.count() != 0)
      Links += From.count() - together(Size, From, Distance);
    return;
  }
}

std::vector<__int128> LinkMap::offRail(const Group &G,
                                       StageRange Stages) const {
  const Senders All = sendersOf(G, Stages);
  std::vector<__int128> ByTier(tierSizes().size());
  auto Add = [&](const Senders &From, int64_t Distance) {
    addOffRail(From, Distance, ByTier);
  };
  if (G.Members == GroupMembers::All)
    forEachNext(G, Route::Ring, All, Add);
  else
    forEachOfPair(G, Route::Ring, All, Add);
  return ByTier;
}

std::vector<__int128> LinkMap::offRail(int64_t Distance,
                                       StageRange Stages) const {
  std::vector<__int128> ByTier(tierSizes().size());
  addOffRail(sendersOf({{Axis::Pp}}, Stages), Distance * step(Axis::Pp),
             ByTier);
  return ByTier;
}
