// SPDX-License-Identifier: Apache-2.0
//
// Times of the jobs of one structure, one after the other: a program is made
// once and gets the numbers of each job. Private to the sweep.
#pragma once

#include "analysis/Figures.h"
#include "analysis/StepTimes.h"
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

  /// Returns the figures, those whose index \p IsWanted accepts, of jobs of the
  /// structure. \p Jobs has their numbers, always of the same keys. \p Timer
  /// keeps schedules.
  std::vector<TimeFigures> figures(llvm::ArrayRef<std::vector<Number>> Jobs,
                                   PipelineTimer &Timer,
                                   llvm::function_ref<bool(size_t)> IsWanted);

private:
  /// Expressions that are evaluated for each job.
  class JobValues {
  public:
    JobValues(ir::Program &P, std::vector<ir::ExprId> Of);

    /// Leaves that are counts of stages, or places of groups.
    const std::vector<ir::Key> &counted() const { return Counted; }
    /// Gives the expressions in P the values that follow from its spec; \p
    /// Counts are those of counted().
    void run(llvm::ArrayRef<int64_t> Counts);

  private:
    ir::Program &P;
    std::vector<ir::ExprId> Of;
    ir::ExprCode Code;
    ir::RowEvaluator Row;
    std::vector<std::pair<size_t, const Located<int64_t> *>> Fields;
    std::vector<size_t> CountedLeaves;
    std::vector<ir::Key> Counted;
  };
  /// The schedule and the stages of jobs that are split alike.
  struct Split {
    ir::Schedule Schedule;
    std::vector<ir::Stage> Stages;
    std::vector<StageCount> Counts;
  };
  using Place = std::pair<const Split *, MeshNumbers>;
  /// A job whose time is being found.
  struct Started {
    const Split *Of = nullptr; ///< null if it can't be split
    JobFigures::AllWork Work;
    bool IsTimed = false;
    IterationTime Time;
    /// With messages, and without if parts are needed; none without a time.
    llvm::SmallVector<PipelineRun, 2> Runs;
  };

  MeshNumbers state(llvm::ArrayRef<Number> Job);
  void use(const Split &Of);
  Started start(const MeshNumbers &Mesh);
  void finish(const Started &Job, llvm::function_ref<bool(size_t)> IsWanted,
              TimeFigures &To);
  const Split *split();
  std::vector<int64_t> countsOf(const Split &Of, CollectiveTimes *Places);
  bool time();
  void revalue(const Split &Of);
  JobFigures::AllWork work() const;

  ir::Program P; ///< of the last job
  std::shared_ptr<StageSplits> Known;
  bool HasWork;                     ///< that can be counted
  ir::ExprId OfMicroBatch, OfJob;   ///< model FLOPs of a micro-batch; tokens
  std::vector<ir::ExprId> Ranks;    ///< by axis of the mesh
  std::vector<ir::Key> Derived;     ///< numbers that follow from others
  std::optional<JobValues> Numbers; ///< those, and the ranks
  std::optional<JobValues> Times;   ///< durations of ops, messages, and work
  std::map<SplitNumbers, std::optional<Split>> Splits;
  const Split *Last = nullptr; ///< that P has
  std::map<MeshNumbers, CollectiveTimes> Links;
  std::map<Place, std::vector<int64_t>> Counts; ///< of Times
  StepTimes Steps;
};

} // namespace foretrace::sweep
