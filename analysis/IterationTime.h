// SPDX-License-Identifier: Apache-2.0
//
// The estimated time of an iteration (`cost estimate`): the schedule run with
// the times of its steps and messages, and what a stage does once an iteration.
#ifndef FORETRACE_ANALYSIS_ITERATIONTIME_H
#define FORETRACE_ANALYSIS_ITERATIONTIME_H

#include "analysis/CollectiveTimes.h"
#include "analysis/PipelineTime.h"
#include "ir/model/Program.h"

namespace foretrace {

/// Part of the iteration of a rank of the busiest stage.
struct TimePart {
  enum class Kind : unsigned char {
    Compute,    ///< kernels of one class
    Collective, ///< what is exposed of one kind of collective
    Host,       ///< for launches, as far as kernels are shorter
    Messages,   ///< between stages, as far as they delay the schedule
    Waiting     ///< for other stages, with nothing to do
  };
  Kind Is;
  std::string Name;
  Nanoseconds Time;
  Nanoseconds Hidden; ///< of collectives, in addition
  /// The parameter that is its relative error.
  ir::KernelParameterId Error = ir::KernelParameterId::ErrorHost;
  bool IsSustained = false; ///< at a sustained rate
  SourceRange Where = {};   ///< of the part's largest op
  Nanoseconds Largest = {}; ///< time of that op
};

/// Work of a rank of some stages, which are alike.
struct StageWorkTime {
  int64_t First, Count;
  Nanoseconds Forward, Backward; ///< of a micro-batch, all chunks
  Nanoseconds Steps;             ///< of all micro-batches
  Nanoseconds Update;            ///< once an iteration
  Nanoseconds Idle;              ///< the rest of the iteration
};

struct IterationTime {
  Nanoseconds Total;
  std::vector<TimePart> Parts; ///< whose times sum to Total
  std::vector<StageWorkTime> Stages;
  size_t Busiest = 0; ///< index into Stages
  /// Half the width of the interval in which nine of ten runs are expected,
  /// relative, from the errors of the profile.
  double Uncertainty = 0;
};

/// Returns the estimate for \p P, which has stages, a schedule and costs; with
/// an overflow as total if it is beyond 2^63 ns.
IterationTime estimateIteration(const ir::Program &P);
/// The same for several programs whose schedules \p Timer keeps; \p Links, of
/// \p P, are made if not given.
IterationTime estimateIteration(const ir::Program &P, PipelineTimer &Timer,
                                CollectiveTimes *Links = nullptr);

/// Returns the times of updates in \p T, by stage.
std::vector<int64_t> updatesOf(const IterationTime &T);

/// Returns the name of all parts of a kind that has one part only.
llvm::StringLiteral partName(TimePart::Kind K);
/// Returns the part that \p O, which takes time, belongs to, without times.
TimePart partOf(const ir::Program &P, const ir::Block &B, const ir::Op &O);

} // namespace foretrace

#endif
