// SPDX-License-Identifier: Apache-2.0
#include "ir/Ranks.h"
#include "llvm/ADT/STLExtras.h"

using namespace foretrace;
using namespace foretrace::ir;

RankMap::RankMap(const Mesh &M, RankOrderKind Order) : M(M) {
  using List = std::initializer_list<Axis>;
  auto Number = [&](List Axes) {
    int64_t Stride = 1;
    for (Axis A : Axes) {
      Strides[static_cast<unsigned>(A)] = Stride;
      Stride *= M[A];
    }
  };
  const bool DpFirst = Order == RankOrderKind::TpCpEpDpPp;
  Number(DpFirst ? List{Axis::Etp, Axis::Ep, Axis::Edp, Axis::Pp}
                 : List{Axis::Etp, Axis::Ep, Axis::Pp, Axis::Edp});
  Number(DpFirst ? List{Axis::Tp, Axis::Cp, Axis::Dp, Axis::Pp}
                 : List{Axis::Tp, Axis::Cp, Axis::Pp, Axis::Dp});
}

std::optional<int64_t> RankMap::spacing(llvm::ArrayRef<Axis> Axes) const {
  int64_t Spacing = 1, Ranks = 1;
  for (Axis A : Axes) {
    if (M[A] == 1)
      continue;
    if (Ranks == 1)
      Spacing = stride(A);
    else if (stride(A) != Spacing * Ranks)
      return std::nullopt;
    Ranks *= M[A];
  }
  return Spacing;
}

void RankMap::forEachMember(int64_t Rank, llvm::ArrayRef<Axis> Axes,
                            llvm::function_ref<void(int64_t)> Visit) const {
  int64_t First = Rank;
  for (Axis A : Axes)
    First -= coordinate(Rank, A) * stride(A);
  const int64_t Size = M.groupSize(Axes);
  for (int64_t I = 0; I < Size; ++I) {
    int64_t Member = First;
    int64_t Rest = I;
    for (Axis A : Axes) {
      Member += Rest % M[A] * stride(A);
      Rest /= M[A];
    }
    Visit(Member);
  }
}

llvm::ArrayRef<ProcessGroup> foretrace::ir::allProcessGroups() {
  enum Members { All, Ends };
  static const std::vector<ProcessGroup> Groups = {
#define UNPACK(...) __VA_ARGS__
#define PROCESS_GROUP(NAME, AXES, MEMBERS, DOC)                                \
  {NAME, {UNPACK AXES}, MEMBERS == Ends},
#include "ir/Groups.def"
#undef UNPACK
  };
  return Groups;
}

std::vector<int64_t> ProcessGroup::members(const RankMap &Map,
                                           int64_t Rank) const {
  std::vector<int64_t> Ranks;
  Map.forEachMember(Rank, Axes,
                    [&](int64_t Member) { Ranks.push_back(Member); });
  if (EndsOnly && Ranks.size() > 2)
    Ranks.erase(Ranks.begin() + 1, Ranks.end() - 1);
  return Ranks;
}

/// Whether members of such groups have something to tell each other.
static bool isUsed(const ProcessGroup &G, const Spec &Job, const Mesh &M) {
  return M.groupSize(G.Axes) > 1 && (!G.EndsOnly || *Job.Model.Tied);
}

void foretrace::ir::forEachGroup(
    const ProcessGroup &G, const Spec &Job, const Mesh &M,
    std::optional<int64_t> OfRank,
    llvm::function_ref<void(llvm::ArrayRef<int64_t>)> Visit) {
  if (!isUsed(G, Job, M))
    return;
  const RankMap Map(M, *Job.Parallel.RankOrder);
  if (OfRank) {
    const std::vector<int64_t> Members = G.members(Map, *OfRank);
    if (llvm::is_contained(Members, *OfRank))
      Visit(Members);
    return;
  }
  for (int64_t Rank = 0; Rank < *Job.Parallel.World; ++Rank)
    if (llvm::all_of(G.Axes,
                     [&](Axis A) { return Map.coordinate(Rank, A) == 0; }))
      Visit(G.members(Map, Rank));
}
