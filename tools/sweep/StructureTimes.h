// SPDX-License-Identifier: Apache-2.0
//
// Times of the jobs of one structure, one after the other: a program is made
// once and gets the numbers of each job. Private to the sweep.
#ifndef FORETRACE_TOOLS_SWEEP_STRUCTURETIMES_H
#define FORETRACE_TOOLS_SWEEP_STRUCTURETIMES_H

#include "analysis/Figures.h"
#include "passes/Structure.h"

namespace foretrace::sweep {

/// The figures of time of a job, by id; ir::NoValue for one that it lacks.
using TimeFigures = std::vector<int64_t>;

class StructureTimes {
public:
  /// \p Of is legal, with costs, traffic and totals.
  /// \p Known has the counts of stages of splits.
  StructureTimes(const ir::Program &Of, std::shared_ptr<StageSplits> Known);

  /// Returns the figures of the job of \p Derived, which is of the structure
  /// and has passed `derive`; nothing if its time is not known. \p Timer keeps
  /// schedules.
  TimeFigures figures(ir::Program Derived, PipelineTimer &Timer);

private:
  /// The schedule and the stages of jobs that are split alike.
  struct Split {
    ir::Schedule Schedule;
    std::vector<ir::Stage> Stages;
    std::vector<StageCount> Counts;
  };

  const Split *split(const ir::Program &Derived);
  bool time();
  JobFigures::AllWork work() const;
  CollectiveTimes *links();

  ir::Program P; ///< of the last job
  std::shared_ptr<StageSplits> Known;
  bool HasWork;                   ///< that can be counted
  ir::ExprId OfMicroBatch, OfJob; ///< model FLOPs of a micro-batch; tokens
  std::map<SplitNumbers, std::optional<Split>> Splits;
  const Split *Last = nullptr; ///< that P has
  std::map<MeshNumbers, CollectiveTimes> Links;
};

} // namespace foretrace::sweep

#endif
