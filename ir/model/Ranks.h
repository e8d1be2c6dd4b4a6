// SPDX-License-Identifier: Apache-2.0
//
// Placement of ranks on the mesh, numbered as by Megatron-LM's RankGenerator:
// the innermost axis varies fastest.
#pragma once

#include "ir/model/Group.h"
#include "ir/model/Spec.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace foretrace::ir {

/// A numbering of ranks. As on the mesh, there are two arrangements: tp, cp, dp
/// and pp, and for routed experts etp, ep, edp and pp. The order of pp and dp
/// is that of the job and applies to both.
class RankMap {
public:
  RankMap(const Mesh &M, RankOrderKind Order);

  /// Returns the coordinate of \p Rank along \p A, from 0.
  int64_t coordinate(int64_t Rank, Axis A) const {
    return Rank / stride(A) % M[A];
  }
  /// Returns the distance of neighbours in the groups of ranks that differ
  /// along \p Axes only; nothing if it is not constant.
  std::optional<int64_t> spacing(llvm::ArrayRef<Axis> Axes) const;
  // The ranks that differ from a rank along some axes only form a line with
  // that rank; the first axis varies fastest. All axes belong to one
  // arrangement.
  /// Returns the number of ranks on a line.
  int64_t lengthOf(llvm::ArrayRef<Axis> Axes) const {
    return M.groupSize(Axes);
  }
  /// Returns the position of \p Rank on its line, from 0.
  int64_t position(int64_t Rank, llvm::ArrayRef<Axis> Axes) const;
  /// Returns the number of its line among those along \p Axes, from 0.
  int64_t lineOf(int64_t Rank, llvm::ArrayRef<Axis> Axes) const {
    return position(Rank, axesBeside(Axes));
  }
  /// Returns the rank at \p Position on the line of \p Rank.
  int64_t at(int64_t Rank, llvm::ArrayRef<Axis> Axes, int64_t Position) const;

private:
  int64_t stride(Axis A) const { return Strides[static_cast<unsigned>(A)]; }

  Mesh M;
  std::array<int64_t, NumAxes> Strides;
};

/// Visits the ranks of every group of the kind of \p G in a job, or only of
/// that of \p OfRank if it is a member. Groups without communication are left
/// out: those of one rank, and those whose members exchange no data.
void forEachGroup(const ProcessGroup &G, const Spec &Job, const Mesh &M,
                  std::optional<int64_t> OfRank,
                  llvm::function_ref<void(llvm::ArrayRef<int64_t>)> Visit);

} // namespace foretrace::ir
