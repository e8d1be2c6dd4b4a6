// SPDX-License-Identifier: Apache-2.0
//
// Figures of a schedule: when its steps run, how long stages are
// idle, and how much they save. All of it is measured on the replayed
// steps; nothing is a formula.
#pragma once

#include "backends/ranks/StepRun.h"

namespace foretrace::schedule {

/// Steps that begin together.
struct Span {
  int64_t Start, End;
  llvm::SmallVector<ir::Action, 2> Steps;
};

struct StageFigures {
  std::vector<Span> Spans; ///< in order
  int64_t Work = 0;        ///< total time of its steps
  /// Most micro-batches, each chunk for itself, between their forward step and
  /// the last, or the first, part of their backward step.
  int64_t PeakUntilWeights = 0, PeakUntilInputs = 0;

  int64_t start() const { return Spans.empty() ? 0 : Spans.front().Start; }
  int64_t end() const { return Spans.empty() ? 0 : Spans.back().End; }
};

/// Messages take no time unless the time is that of ops with `cost estimate`;
/// steps that overlap take as long as one after the other.
struct PipelineFigures {
  PipelineFigures(const ir::Program &P, StepTime Time);

  StepTime Time;
  std::vector<StageFigures> Stages;
  int64_t Makespan = 0;   ///< from the first start to the last end
  int64_t Work = 0;       ///< of the stage with most of it
  int64_t SpanBubble = 0; ///< most that a stage idles between its first step
                          ///< and its last one
  int64_t bubble() const { return Makespan - Work; }
};

} // namespace foretrace::schedule
