// SPDX-License-Identifier: Apache-2.0
#include "backends/simai/Words.h"
#include "ir/model/OpKinds.h"
#include "llvm/ADT/STLExtras.h"

using namespace foretrace;
using namespace foretrace::simai;
using ir::Axis;
using ir::OpKind;

std::optional<Comm> foretrace::simai::commOf(OpKind K) {
  switch (K) {
  case OpKind::AllGather:
    return Comm::AllGather;
  case OpKind::ReduceScatter:
    return Comm::ReduceScatter;
  case OpKind::AllReduce:
    return Comm::AllReduce;
  case OpKind::AllToAll:
    return Comm::AllToAll;
  default:
    return std::nullopt;
  }
}

/// Along these SimAI sees data parallelism.
static constexpr Axis ReplicaAxes[] = {Axis::Cp, Axis::Dp, Axis::DpReplicate};

int64_t foretrace::simai::expertRanks(const ir::Mesh &M) {
  return M.groupSize(ReplicaAxes) % M[Axis::Ep] == 0 ? M[Axis::Ep] : 1;
}

TableWords::TableWords(const ir::Program &P)
    : Mesh(P.Mesh), Map(P.Mesh, *P.Spec.Parallel.RankOrder) {
  const int64_t Tp = Mesh[Axis::Tp], Ep = expertRanks(Mesh);
  const int64_t Dp = Mesh.groupSize(ReplicaAxes);
  Groups = {{{Direction::Model, CellGroup::Column, Tp, 1},
             {Direction::Model, CellGroup::Expert, Ep, Tp},
             {Direction::Data, CellGroup::Column, Dp, Tp},
             {Direction::Data, CellGroup::ExpertData, Dp / Ep, Tp * Ep}}};
}

/// Two groups may have the same ranks. The axes tell them apart: those of data
/// are in the third column, those of experts have a suffix.
std::optional<TableWord> TableWords::find(const ir::Op &Collective) const {
  auto SpansAny = [&](std::initializer_list<Axis> Axes) {
    return llvm::any_of(Axes,
                        [&](Axis A) { return Collective.Group.spans(A); });
  };
  const std::optional<Comm> Kind = commOf(Collective.Kind);
  const std::optional<int64_t> Spacing = Map.spacing(Collective.Group.Axes);
  if (!Kind || !Spacing || SpansAny({Axis::Pp}))
    return std::nullopt;
  const Direction Where =
      SpansAny({Axis::Cp, Axis::Dp, Axis::Edp, Axis::DpReplicate})
          ? Direction::Data
          : Direction::Model;
  const bool IsOfExperts = SpansAny({Axis::Ep, Axis::Edp});
  std::optional<TableWord> Found;
  for (const Known &G : Groups)
    if (G.Where == Where && G.Spacing == *Spacing &&
        G.Ranks == Collective.Group.size(Mesh) && (!Found || IsOfExperts))
      Found = TableWord{Where, *Kind, G.Group};
  return Found;
}
