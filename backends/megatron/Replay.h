// SPDX-License-Identifier: Apache-2.0
//
// When every row of an iteration starts and ends: the schedules of all stages
// run against each other. Ranks of one stage are alike.
#pragma once

#include "backends/megatron/Skeleton.h"
#include "backends/megatron/Timing.h"
#include "lang/Diagnostic.h"

namespace foretrace::megatron {

/// Replays an iteration, in ns from 0. A message starts once both sides wait
/// for it, as NCCL's; a combined call ends with its last message. An embedding
/// is reduced, and parameters are updated, when all members have arrived.
class IterationReplay {
public:
  struct Span {
    int64_t Start, End;
  };

  /// \p P has costs and schedule. Costs as much time and memory as there are
  /// rows on one rank of each stage.
  IterationReplay(const ir::Program &P, const Skeleton &S);

  /// Returns whether stages deadlock; there are no spans then.
  bool isStuck() const { return Spans.front().empty(); }
  /// Spans of the rows of Skeleton::forEachRow, in order.
  llvm::ArrayRef<Span> spans(int64_t Stage) const {
    return Spans[static_cast<size_t>(Stage)];
  }

  /// Returns the time from the start to the last row before reductions.
  int64_t pipelineTime(int64_t Stage) const {
    return Pipelines[static_cast<size_t>(Stage)];
  }
  /// Returns the times of row \p Index of its stage. Its computation is divided
  /// evenly between its calls.
  RowTimes times(const TraceRow &R, size_t Index) const;

  /// More rows than that, over all stages, are not replayed.
  static constexpr int64_t MaxRows = int64_t(1) << 21;

private:
  const Timing Times;
  std::vector<int64_t> Pipelines; ///< by stage
  std::vector<std::vector<Span>> Spans;
};

/// Returns whether a replay can have the duration of every row of \p S. Reports
/// missing and too long ones at \p Asked.
bool checkDurations(const ir::Program &P, const Skeleton &S, SourceRange Asked,
                    DiagnosticEngine &Diags);

} // namespace foretrace::megatron
