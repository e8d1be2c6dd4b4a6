// SPDX-License-Identifier: Apache-2.0
//
// Which rank stands where on the mesh, as Megatron-LM's RankGenerator numbers
// them: the innermost axis varies fastest.
#ifndef FORETRACE_IR_MODEL_RANKS_H
#define FORETRACE_IR_MODEL_RANKS_H

#include "ir/model/Group.h"
#include "ir/model/Spec.h"
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
  // The ranks that differ from one along some axes only, itself included, stand
  // on a line; the first axis varies fastest. The axes are of one way to see
  // ranks.
  /// Ranks on a line.
  int64_t lengthOf(llvm::ArrayRef<Axis> Axes) const {
    return M.groupSize(Axes);
  }
  /// Where \p Rank stands on its line, from 0.
  int64_t position(int64_t Rank, llvm::ArrayRef<Axis> Axes) const;
  /// Which of the lines along \p Axes that is, from 0.
  int64_t lineOf(int64_t Rank, llvm::ArrayRef<Axis> Axes) const {
    return position(Rank, axesBeside(Axes));
  }
  /// The rank that stands at \p Position on the line of \p Rank.
  int64_t at(int64_t Rank, llvm::ArrayRef<Axis> Axes, int64_t Position) const;

private:
  int64_t stride(Axis A) const { return Strides[static_cast<unsigned>(A)]; }

  Mesh M;
  std::array<int64_t, NumAxes> Strides;
};

/// Visits the ranks of every group of \p G's kind in a job, or of \p OfRank's
/// only if it is one of them. None if nobody talks in them: a group has one
/// rank, or nothing to tell.
void forEachGroup(const ProcessGroup &G, const Spec &Job, const Mesh &M,
                  std::optional<int64_t> OfRank,
                  llvm::function_ref<void(llvm::ArrayRef<int64_t>)> Visit);

} // namespace foretrace::ir

#endif
