// SPDX-License-Identifier: Apache-2.0
//
// Which ranks communicate with each other: every collective names a group.
#ifndef FORETRACE_IR_MODEL_GROUP_H
#define FORETRACE_IR_MODEL_GROUP_H

#include "ir/model/Mesh.h"
#include "llvm/Support/raw_ostream.h"
#include <vector>

namespace foretrace::ir {

class RankMap;
struct Spec;

/// Which of the ranks that differ along the axes of a group belong together.
enum class GroupMembers : unsigned char {
#define GROUP_MEMBERS(ENUMERATOR, SPELLING, DOC) ENUMERATOR,
#include "ir/model/Groups.def"
};

/// A kind of group: one rank on each line along the axes, or all, or two. Ranks
/// outside the members of their line take no part.
struct Group {
  AxisList Axes; ///< in canonical order; none: no group
  GroupMembers Members = GroupMembers::All;

  bool empty() const { return Axes.empty(); }
  bool spans(Axis A) const { return llvm::is_contained(Axes, A); }
  /// Ranks of one group on \p M.
  int64_t size(const Mesh &M) const;
  /// The ranks of the group on whose axes \p Rank lies, in order, even if it is
  /// not one of them.
  std::vector<int64_t> ranks(const RankMap &Map, int64_t Rank) const;
  /// How many groups of the kind there are on \p M.
  int64_t count(const Mesh &M) const;
  /// Which of them \p Rank is in, or beside, from 0.
  int64_t number(const RankMap &Map, int64_t Rank) const;
  /// Whether \p Rank is the first rank of a group.
  bool isFirst(const RankMap &Map, int64_t Rank) const;
  /// What ir/model/Groups.def calls it in \p Job on \p M: the name of the row
  /// with its axes, else of the first row that differs from it in axes of one
  /// rank only; empty if there is none.
  llvm::StringRef name(const Spec &Job, const Mesh &M) const;

  friend bool operator==(const Group &A, const Group &B) {
    return A.Axes == B.Axes && A.Members == B.Members;
  }
  friend bool operator!=(const Group &A, const Group &B) { return !(A == B); }
};

/// The axes beside \p Axes, of the same way to see ranks: along tp, cp, dp and
/// pp, or along etp, ep, edp and pp. Ranks on a line along \p Axes are at one
/// place along these.
AxisList axesBeside(llvm::ArrayRef<Axis> Axes);

/// Its name in \p Job, or its axes: `dp-cp`, `tp,cp`.
std::string textOf(const Group &G, const Spec &Job, const Mesh &M);

/// Prints `tp,cp` or `pp ends`.
llvm::raw_ostream &operator<<(llvm::raw_ostream &OS, const Group &G);

/// A row of ir/model/Groups.def.
struct ProcessGroup {
  llvm::StringRef Name;
  ir::Group Group;
  /// Whether its members have something to tell each other in a job.
  bool (*IsUsed)(const Spec &);
};
llvm::ArrayRef<ProcessGroup> allProcessGroups();
/// What they are called, each name once: some are of other axes in other jobs.
llvm::ArrayRef<llvm::StringRef> allGroupNames();

} // namespace foretrace::ir

#endif
