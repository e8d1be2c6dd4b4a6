// SPDX-License-Identifier: Apache-2.0
//
// Groups of ranks that communicate with each other: every collective has one.
#pragma once

#include "ir/model/Mesh.h"
#include "llvm/Support/raw_ostream.h"
#include <vector>

namespace foretrace::ir {

class RankMap;
struct Spec;

/// The ranks along the axes of a group that belong to it.
enum class GroupMembers : unsigned char {
#define GROUP_MEMBERS(ENUMERATOR, SPELLING, DOC) ENUMERATOR,
#include "ir/model/Groups.def"
};

/// A kind of group: on each line along the axes, one rank, all, or two. The
/// other ranks of the line do not take part.
struct Group {
  AxisList Axes; ///< in canonical order; empty: no group
  GroupMembers Members = GroupMembers::All;

  bool empty() const { return Axes.empty(); }
  bool spans(Axis A) const { return llvm::is_contained(Axes, A); }
  /// Returns the number of ranks of one group on \p M.
  int64_t size(const Mesh &M) const;
  /// Returns the ranks of the group on the line of \p Rank, in order, even if
  /// \p Rank is not one of them.
  std::vector<int64_t> ranks(const RankMap &Map, int64_t Rank) const;
  /// Returns the number of groups of this kind on \p M.
  int64_t count(const Mesh &M) const;
  /// Returns the number of the group on the line of \p Rank, from 0.
  int64_t number(const RankMap &Map, int64_t Rank) const;
  /// Returns whether \p Rank is the first rank of a group.
  bool isFirst(const RankMap &Map, int64_t Rank) const;
  /// Returns the name of the group in \p Job on \p M (ir/model/Groups.def):
  /// that of the row with its axes, or else of the first row that differs only
  /// in axes of one rank; empty if there is none.
  llvm::StringRef name(const Spec &Job, const Mesh &M) const;

  friend bool operator==(const Group &A, const Group &B) {
    return A.Axes == B.Axes && A.Members == B.Members;
  }
  friend bool operator!=(const Group &A, const Group &B) { return !(A == B); }
};

/// Returns the other axes of the same arrangement of ranks, which is tp, cp, dp
/// and pp, or etp, ep, edp and pp. Ranks on a line along \p Axes have equal
/// coordinates along the result.
AxisList axesBeside(llvm::ArrayRef<Axis> Axes);

/// Returns the name of a group in \p Job, or its axes: `dp-cp`, `tp,cp`.
std::string textOf(const Group &G, const Spec &Job, const Mesh &M);

/// Prints `tp,cp` or `pp ends`.
llvm::raw_ostream &operator<<(llvm::raw_ostream &OS, const Group &G);

/// A row of ir/model/Groups.def.
struct ProcessGroup {
  llvm::StringRef Name;
  ir::Group Group;
  /// Whether its members exchange data in a job.
  bool (*IsUsed)(const Spec &);
};
llvm::ArrayRef<ProcessGroup> allProcessGroups();
/// Returns the names of the groups, each once; some have different axes in
/// different jobs.
llvm::ArrayRef<llvm::StringRef> allGroupNames();

} // namespace foretrace::ir
