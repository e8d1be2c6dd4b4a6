// SPDX-License-Identifier: Apache-2.0
#include "ir/model/Ranks.h"
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
  Number(
      DpFirst
          ? List{Axis::Etp, Axis::Ep, Axis::Edp, Axis::DpReplicate, Axis::Pp}
          : List{Axis::Etp, Axis::Ep, Axis::Pp, Axis::Edp, Axis::DpReplicate});
  Number(DpFirst
             ? List{Axis::Tp, Axis::Cp, Axis::Dp, Axis::DpReplicate, Axis::Pp}
             : List{Axis::Tp, Axis::Cp, Axis::Pp, Axis::Dp, Axis::DpReplicate});
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

int64_t RankMap::position(int64_t Rank, llvm::ArrayRef<Axis> Axes) const {
  int64_t Position = 0, Before = 1;
  for (Axis A : Axes) {
    Position += coordinate(Rank, A) * Before;
    Before *= M[A];
  }
  return Position;
}

int64_t RankMap::at(int64_t Rank, llvm::ArrayRef<Axis> Axes,
                    int64_t Position) const {
  for (Axis A : Axes) {
    Rank += (Position % M[A] - coordinate(Rank, A)) * stride(A);
    Position /= M[A];
  }
  return Rank;
}

void foretrace::ir::forEachGroup(
    const ProcessGroup &G, const Spec &Job, const Mesh &M,
    std::optional<int64_t> OfRank,
    llvm::function_ref<void(llvm::ArrayRef<int64_t>)> Visit) {
  if (G.Group.size(M) == 1 || !G.IsUsed(Job))
    return;
  const RankMap Map(M, *Job.Parallel.RankOrder);
  if (OfRank) {
    const std::vector<int64_t> Ranks = G.Group.ranks(Map, *OfRank);
    if (llvm::is_contained(Ranks, *OfRank))
      Visit(Ranks);
    return;
  }
  for (int64_t Rank = 0; Rank < *Job.Parallel.World; ++Rank)
    if (G.Group.isFirst(Map, Rank))
      Visit(G.Group.ranks(Map, Rank));
}
