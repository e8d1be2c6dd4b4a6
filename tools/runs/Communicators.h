// SPDX-License-Identifier: Apache-2.0
//
// Where each communicator of a run first left the plan.
#pragma once

#include "ir/model/Ranks.h"
#include "tools/runs/Matcher.h"
#include "tools/runs/TraceFiles.h"
#include <map>

namespace foretrace::runs {

class Communicators {
public:
  explicit Communicators(const ir::RankMap &Map) : Map(Map) {}

  /// Takes a divergence of a trace; those of no communicator, or of one with a
  /// single rank, are left out.
  void take(const TraceFile &Of, const Divergence &D);

  /// A communicator and what of it came first in the order of the plan.
  struct First {
    llvm::StringRef Group; ///< as in ir/model/Groups.def
    std::vector<int64_t> Ranks;
    std::string Path;
    int64_t Rank = 0;
    Divergence What;
  };
  /// In the order of ir/model/Groups.def and of ranks.
  std::vector<First> list() const;

private:
  const ir::RankMap &Map;
  /// By index of the process group, and first member.
  std::map<std::pair<size_t, int64_t>, First> Found;
};

} // namespace foretrace::runs
