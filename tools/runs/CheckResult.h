// SPDX-License-Identifier: Apache-2.0
//
// What holding a run against its job gives, for whoever shows it.
#pragma once

#include "tools/runs/Matcher.h"
#include "tools/runs/TraceFiles.h"
#include <set>

namespace foretrace::runs {

/// Traces that differ alike, line by line.
struct AlikeTraces {
  std::vector<TraceFile> Traces;       ///< by rank; at least one
  std::vector<Divergence> Divergences; ///< the first of each trace
  size_t Omitted = 0;                  ///< more of each trace
};

/// What was checked.
struct CheckSummary {
  /// All of those below World that are not in \p Seen are missing.
  void setRanks(const std::set<int64_t> &Seen);

  int64_t Ranks = 0, World = 0, Rows = 0, Iterations = 0;
  /// Ranks that left nothing: first and last of each row of them.
  std::vector<std::pair<int64_t, int64_t>> Missing;
  megatron::Instrumentation How;
  int64_t Divergences = 0, Tolerated = 0;
  bool IsLog = false; ///< of one terminal, not traces of ranks
};

} // namespace foretrace::runs
