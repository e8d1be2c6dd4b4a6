// SPDX-License-Identifier: Apache-2.0
//
// Times of the jobs of one structure, one after the other: a program is made
// once and gets the numbers of each job. Private to the sweep.
#pragma once

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

  using Number = std::pair<ir::Key, int64_t>;

  /// Returns the figures of the job of the structure whose keys are \p Numbers,
  /// always the same ones, as far as \p IsWanted accepts their numbers. \p
  /// Timer keeps schedules.
  TimeFigures figures(llvm::ArrayRef<Number> Numbers, PipelineTimer &Timer,
                      llvm::function_ref<bool(size_t)> IsWanted);

private:
  /// The schedule and the stages of jobs that are split alike.
  struct Split {
    ir::Schedule Schedule;
    std::vector<ir::Stage> Stages;
    std::vector<StageCount> Counts;
  };

  void revalue(const Split *Of);
  const Split *split();
  bool time();
  JobFigures::AllWork work() const;
  CollectiveTimes *links();

  ir::Program P; ///< of the last job
  std::shared_ptr<StageSplits> Known;
  bool HasWork;                   ///< that can be counted
  ir::ExprId OfMicroBatch, OfJob; ///< model FLOPs of a micro-batch; tokens
  std::vector<ir::ExprId> Ranks;  ///< by axis of the mesh
  std::vector<ir::Key> Derived;   ///< numbers that follow from others
  std::map<SplitNumbers, std::optional<Split>> Splits;
  const Split *Last = nullptr; ///< that P has
  std::map<MeshNumbers, CollectiveTimes> Links;
};

} // namespace foretrace::sweep
