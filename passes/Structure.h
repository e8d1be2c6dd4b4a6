// SPDX-License-Identifier: Apache-2.0
//
// What jobs that decide alike have in common. A program is made once; for
// another such job its conditions and figures are evaluated, which takes
// microseconds, alone or in blocks.
#pragma once

#include "analysis/Flows.h"
#include "ir/model/Evaluate.h"
#include <map>
#include <memory>

namespace foretrace {

/// A program whose numbers can change, or the refusal of a job.
class Structure {
public:
  /// Returns the structure of \p P, which was derived, not read from text, and
  /// has the totals of its stages if it is legal. Nothing otherwise, and for
  /// legal jobs with balanced stages, which are split by their figures.
  static std::optional<Structure> of(const ir::Program &P);

  const ir::Program &program() const { return P; }
  /// Returns whether the last check refused the job, and so all like it.
  bool isRefusal() const;
  /// Results: the checks of the program, then SplitNumbers and MeshNumbers.
  const ir::ExprCode &legality() const { return Legality; }

private:
  Structure(const ir::Program &P) : P(P) {}

  ir::Program P;
  ir::ExprCode Legality;
};

/// The numbers that decide how a job is split over stages, in the order of
/// `Structure::legality`.
constexpr size_t NumSplitNumbers = 6;
using SplitNumbers = std::array<int64_t, NumSplitNumbers>;
/// Ranks along each axis, which decide which links are within a node.
using MeshNumbers = std::array<int64_t, ir::NumAxes>;

/// Split of a job over stages: results of `countStages` and `sendsOfStages`.
struct StageSplit {
  std::vector<StageCount> Counts;
  std::vector<StageSends> Sends;
};
/// Splits of jobs that differ only in numbers; nothing for jobs that can't be
/// split. Structures of such jobs share them. As each job can have its own
/// numbers, the splits are dropped when they become too many.
using StageSplits = std::map<SplitNumbers, std::optional<StageSplit>>;

/// Returns whether jobs of the same numbers are split over stages in the same
/// way, so that they can share splits.
bool isSplitAlike(const ir::Spec &A, const ir::Spec &B);
/// Returns whether only some layers of a chunk are recomputed or offloaded.
bool hasUnlikeLayers(const ir::TrainSpec &T);

/// Counts stages for the figures of jobs of one structure.
class StageSplitter {
public:
  /// For \p Figures of \p S; keeps what it finds in \p Known.
  StageSplitter(const Structure &S, const ir::ExprCode &Figures,
                std::shared_ptr<StageSplits> Known);

  static std::array<Located<int64_t> *, NumSplitNumbers>
  numbersOf(ir::ParallelSpec &P);

  /// Returns the values of the leaves of the figures that are `leaves()`; null
  /// if a job of these numbers has other kinds of stages than the structure.
  /// Valid until the next call.
  const std::vector<int64_t> *find(const SplitNumbers &Of,
                                   const MeshNumbers &M);
  llvm::ArrayRef<size_t> leaves() const { return Leaves; }

private:
  using Numbers = std::pair<SplitNumbers, MeshNumbers>;
  const std::optional<StageSplit> &split(const SplitNumbers &Of);
  std::optional<std::vector<int64_t>> valuesOf(const Numbers &Of);

  /// Counts of the structure's stages.
  std::vector<StageCount> Expected;
  std::optional<LinkCounter> Links; ///< if their counts are read
  /// Which counts are read, those of links after the others, and the leaves.
  std::vector<size_t> Read, Leaves;
  ir::Program Scratch; ///< what the passes that split need
  std::shared_ptr<StageSplits> Known;
  std::map<Numbers, std::optional<std::vector<int64_t>>> Values;
};

enum class Verdict : unsigned char {
  Accepted,
  Rejected, ///< a condition does not hold
  Overflow, ///< a figure is beyond 2^63
  Foreign,  ///< the job has another structure
};

/// Checks jobs of a structure, which must outlive it, one after the other.
/// Keys that are not set keep their value.
class StructureRow {
public:
  explicit StructureRow(const Structure &S) : S(S), Legality(S.legality()) {}

  /// Sets a key, if checks read it.
  void set(ir::Key K, int64_t Value);
  /// Returns the verdict of the checks, without the figures: an accepted job
  /// may still be foreign, or have a figure beyond 2^63.
  Verdict check();
  /// Returns the first check that a rejected job does not pass. The compiler
  /// reports the same check first.
  size_t violated() const { return Violated; }

private:
  const Structure &S;
  ir::RowEvaluator Legality;
  size_t Violated = 0;
};

/// Columns that several structures use in turn.
struct ColumnStorage {
  using Shared = std::shared_ptr<ir::ColumnEvaluator::Storage>;
  Shared Legality = std::make_shared<ir::ColumnEvaluator::Storage>();
  Shared Figures = std::make_shared<ir::ColumnEvaluator::Storage>();
};

/// Jobs of a structure, evaluated in blocks.
class StructureColumns {
public:
  static constexpr size_t BlockSize = ir::ColumnEvaluator::BlockSize;

  /// For \p Of, figures of the program of \p S.
  StructureColumns(
      const Structure &S, const ir::ExprCode &Of,
      std::shared_ptr<StageSplits> Known = std::make_shared<StageSplits>(),
      const ColumnStorage &In = {});

  /// Values of a key, one for each job; empty if the structure does not have
  /// the key as a number of its own.
  llvm::MutableArrayRef<int64_t> column(ir::Key K);
  /// Evaluates the first \p Count jobs.
  void run(size_t Count);
  Verdict verdict(size_t Job) const { return Verdicts[Job]; }
  size_t violated(size_t Job) const { return Violated[Job]; }
  /// Returns a figure of an accepted job.
  int64_t figure(size_t Job, size_t Result) const {
    return Figures.values(Result)[Places[Job]];
  }

private:
  void check(size_t Count);
  size_t checkOne(size_t Job);
  void judge(size_t Count);
  size_t gather(size_t Count);

  const Structure &S;
  const ir::ExprCode &Of;
  StageSplitter Stages;
  ir::ColumnEvaluator Legality, Figures;
  ir::RowEvaluator One; ///< of the legality of jobs that lack numbers
  /// By leaf of the figures: the leaf of the legality with the same key.
  std::vector<std::optional<size_t>> Shared;
  /// Parallel: the values of leaves of figures alone, else null.
  std::vector<std::unique_ptr<ir::ColumnEvaluator::Column>> Only;
  std::array<Verdict, BlockSize> Verdicts;
  std::array<uint32_t, BlockSize> Violated;
  std::array<uint32_t, BlockSize> Places; ///< of accepted jobs, among them
};

} // namespace foretrace
