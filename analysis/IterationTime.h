// SPDX-License-Identifier: Apache-2.0
//
// The estimated time of an iteration (`cost estimate`): the schedule run with
// the times of its steps and messages, and what a stage does once an iteration.
#pragma once

#include "analysis/PipelineTime.h"
#include "ir/model/Program.h"

namespace foretrace {

class StepTimes;

/// Part of the iteration of a rank of the busiest stage.
struct TimePart {
  enum class Kind : unsigned char {
    Compute,    ///< kernels of one class
    Collective, ///< exposed time of one kind of collective
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

// Steps of the estimate, for several programs whose schedules run together.

/// Returns the work of stages; with an overflow as total if the iteration may
/// be beyond 2^63 ns. \p Times are those of \p P.
IterationTime workOfStages(const ir::Program &P, StepTimes &Times);
/// Adds the parts that are ops.
void addOps(const ir::Program &P, IterationTime &To);
/// The times of steps, with messages that take none.
struct WithoutMessages {
  StepTimes &Times;
  int64_t operator()(int64_t Stage, const ir::Action &A) const;
};
/// Adds the parts that the schedule causes, which takes \p Total with messages
/// and \p WithoutMessages without, and the uncertainty.
void addSchedule(const ir::Program &P, int64_t Total, int64_t WithoutMessages,
                 IterationTime &To);
/// Adds the time of the schedule.
void setTotal(int64_t Total, IterationTime &To);

/// Returns the times of updates in \p T, by stage.
std::vector<int64_t> updatesOf(const IterationTime &T);

/// Returns the name of all parts of a kind that has one part only.
llvm::StringLiteral partName(TimePart::Kind K);
/// Returns the part that \p O, which takes time, belongs to, without times.
TimePart partOf(const ir::Program &P, const ir::Block &B, const ir::Op &O);

} // namespace foretrace
