// SPDX-License-Identifier: Apache-2.0
//
// What holding a run against its job gives, for whoever shows it.
#ifndef FORETRACE_TOOLS_RUNS_CHECKRESULT_H
#define FORETRACE_TOOLS_RUNS_CHECKRESULT_H

#include "tools/runs/Matcher.h"
#include "tools/runs/TraceFiles.h"

namespace foretrace::runs {

/// Traces that differ alike, line by line.
struct AlikeTraces {
  std::vector<TraceFile> Traces;       ///< by rank; at least one
  std::vector<Divergence> Divergences; ///< the first of each trace
  size_t Omitted = 0;                  ///< more of each trace
};

/// What was checked.
struct CheckSummary {
  int64_t Ranks = 0, World = 0, Rows = 0, Iterations = 0;
  megatron::Instrumentation How;
  int64_t Divergences = 0, Tolerated = 0;
  bool IsLog = false; ///< of one terminal, not traces of ranks
};

} // namespace foretrace::runs

#endif
