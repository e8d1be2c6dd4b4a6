// SPDX-License-Identifier: Apache-2.0
//
// What the traces of a run are held against: the job, as some instrumentation
// would log it.
#pragma once

#include "ir/model/Ranks.h"
#include "tools/compiler/CompiledJob.h"
#include "tools/runs/Matcher.h"
#include "tools/runs/TraceFiles.h"

namespace foretrace::runs {

class TracePlan {
public:
  /// \p P has schedule and sync, and outlives the plan.
  TracePlan(const ir::Program &P, megatron::Instrumentation How);

  /// The program of \p Job with what a plan needs, and with \p More; null, and
  /// a report, if it is not legal or its traces are not known.
  static const ir::Program *programOf(CompiledJob &Job, ir::FactSet More = {});
  /// The instrumentation that \p Traces fit best; the first of equals.
  static megatron::Instrumentation recognize(const ir::Program &P,
                                             llvm::ArrayRef<TraceFile> Traces);

  /// Reports how up to \p MaxLines lines of \p Of differ. \p Done gets what was
  /// seen in the end. An error if they have more than \p MaxBytes.
  llvm::Error hold(const TraceFile &Of, const Matcher::Reporter &Report,
                   llvm::function_ref<void(const Matcher &)> Done,
                   int64_t MaxLines = INT64_MAX,
                   size_t MaxBytes = SIZE_MAX) const;
  /// Reports how the beginnings of some of \p Traces differ.
  void sample(llvm::ArrayRef<TraceFile> Traces,
              const Matcher::Reporter &Report) const;

  const ir::RankMap &map() const { return Map; }
  /// Rows that a rank can get from its expert group for one micro-batch.
  int64_t maxReceived() const;

private:
  const ir::Program &P;
  const ir::RankMap Map;
  const megatron::Skeleton Skeleton;
};

} // namespace foretrace::runs
