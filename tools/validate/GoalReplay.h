// SPDX-License-Identifier: Apache-2.0
//
// Runs the operations of all ranks of a GOAL schedule against each other,
// without times, to see whether they end: an operation begins when all that it
// requires have ended, a receive ends with the first message that it takes, and
// a send at once, or with its receive, as consumers differ in that.
#pragma once

#include "tools/validate/Findings.h"
#include "tools/validate/GoalReader.h"
#include "llvm/ADT/ArrayRef.h"
#include <vector>

namespace foretrace::validate {

struct GoalOp {
  uint64_t Amount = 0; ///< bytes of a message
  int64_t Line = 0;
  uint32_t Peer = 0, Tag = 0;
  GoalStatement::Kind Is = GoalStatement::Kind::Calc;
};

/// An operation waits for another one of its rank, by index.
struct GoalEdge {
  uint32_t On = 0, Op = 0;
  bool IsStart = false; ///< until it begins, not until it ends

  bool operator<(const GoalEdge &E) const {
    return std::tie(On, Op) < std::tie(E.On, E.Op);
  }
};

struct GoalRank {
  std::vector<GoalOp> Ops;
  std::vector<GoalEdge> Edges; ///< sorted

  /// The edges of those that wait for \p On.
  llvm::ArrayRef<GoalEdge> after(uint32_t On) const;
};

/// Reports why \p Ranks, all of the schedule \p Path, do not end. There are no
/// cycles, all peers are ranks, and no receive matches any message: which one
/// it would match depends on time.
void replayGoal(llvm::ArrayRef<GoalRank> Ranks, llvm::StringRef Path,
                Findings &Out);

} // namespace foretrace::validate
