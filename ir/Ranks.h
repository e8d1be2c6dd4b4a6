// SPDX-License-Identifier: Apache-2.0
//
// Which rank stands where on the mesh, as Megatron-LM's RankGenerator numbers
// them: the innermost axis varies fastest.
#ifndef FORETRACE_IR_RANKS_H
#define FORETRACE_IR_RANKS_H

#include "ir/Mesh.h"
#include "ir/Spec.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace foretrace::ir {

/// Ranks are seen in two ways, as on the mesh: along tp, cp, dp and pp, and for
/// routed experts along etp, ep, edp and pp. The order of pp and dp is the
/// job's; experts follow it.
class RankMap {
public:
  RankMap(const Mesh &M, RankOrderKind Order);

  /// Where \p Rank stands along \p A, from 0.
  int64_t coordinate(int64_t Rank, Axis A) const {
    return Rank / stride(A) % M[A];
  }
  /// How far neighbours are apart in the groups of ranks that differ along
  /// \p Axes only, in their order; nothing if that is not the same everywhere.
  std::optional<int64_t> spacing(llvm::ArrayRef<Axis> Axes) const;
  /// The ranks that differ from \p Rank along \p Axes only, itself included;
  /// the first axis varies fastest. The axes are of one way to see ranks.
  void forEachMember(int64_t Rank, llvm::ArrayRef<Axis> Axes,
                     llvm::function_ref<void(int64_t)> Visit) const;

private:
  int64_t stride(Axis A) const { return Strides[static_cast<unsigned>(A)]; }

  Mesh M;
  std::array<int64_t, NumAxes> Strides;
};

/// A row of ir/Groups.def.
struct ProcessGroup {
  llvm::StringRef Name;
  AxisList Axes;
  bool EndsOnly; ///< the first and the last rank along the axes

  /// Its members, in order: those of the group on whose axes \p Rank lies, even
  /// if that is no end.
  std::vector<int64_t> members(const RankMap &Map, int64_t Rank) const;
};
llvm::ArrayRef<ProcessGroup> allProcessGroups();

/// Visits the members of every group of \p G's kind in a job, or of \p OfRank's
/// only if that is one. None if nobody talks in them: a group has one rank, or
/// there is no embedding to share.
void forEachGroup(const ProcessGroup &G, const Spec &Job, const Mesh &M,
                  std::optional<int64_t> OfRank,
                  llvm::function_ref<void(llvm::ArrayRef<int64_t>)> Visit);

} // namespace foretrace::ir

#endif
