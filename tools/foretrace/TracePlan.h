// SPDX-License-Identifier: Apache-2.0
//
// What the traces of a run are held against: the job, as some instrumentation
// would log it.
#ifndef FORETRACE_TOOLS_TRACEPLAN_H
#define FORETRACE_TOOLS_TRACEPLAN_H

#include "backends/megatron/Matcher.h"
#include "ir/Ranks.h"
#include "tools/foretrace/TraceFiles.h"

namespace foretrace {

class TracePlan {
public:
  /// \p P has schedule and sync, and outlives the plan.
  TracePlan(const ir::Program &P, megatron::Instrumentation How);

  /// What has to be known of a program.
  static constexpr ir::FactSet needs() {
    return {ir::Fact::Recompute, ir::Fact::Scheduled, ir::Fact::Sync};
  }
  /// The instrumentation that \p Traces fit best; the first of equals.
  static megatron::Instrumentation recognize(const ir::Program &P,
                                             llvm::ArrayRef<Trace> Traces);

  /// Reports how up to \p MaxLines lines of \p Of differ. \p Done gets what was
  /// seen in the end.
  llvm::Error hold(const Trace &Of, const megatron::Matcher::Reporter &Report,
                   llvm::function_ref<void(const megatron::Matcher &)> Done,
                   int64_t MaxLines = INT64_MAX) const;
  /// Reports how the beginnings of some of \p Traces differ.
  void sample(llvm::ArrayRef<Trace> Traces,
              const megatron::Matcher::Reporter &Report) const;

  const ir::RankMap &map() const { return Map; }
  /// Rows that a rank can get from its expert group for one micro-batch.
  int64_t maxReceived() const;

private:
  const ir::Program &P;
  const ir::RankMap Map;
  const megatron::Skeleton Skeleton;
};

} // namespace foretrace

#endif
