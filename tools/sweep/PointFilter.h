// SPDX-License-Identifier: Apache-2.0
//
// Filters and metrics that a sweep defines for its points, besides the metrics
// of the analyses. Private to the sweep.
#pragma once

#include "frontend/sweep/SweepSpec.h"
#include "tools/sweep/Engine.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace foretrace::sweep {

/// Expressions of a sweep, conditions or metrics, for some points at a time.
class Formulas {
public:
  using Column = ir::ColumnEvaluator::Column;

  Formulas(const SweepSpec &S, llvm::ArrayRef<ir::ExprId> Of);

  bool empty() const { return Code.results().empty(); }
  size_t size() const { return Code.results().size(); }
  /// Returns the leaves of the expressions: keys of job, axes and metrics.
  llvm::ArrayRef<ir::ExprCode::Leaf> leaves() const { return Code.leaves(); }

  /// Evaluates \p Count points, of which \p Fill writes what a leaf is worth.
  void
  run(size_t Count,
      llvm::function_ref<void(ir::Key, llvm::MutableArrayRef<int64_t>)> Fill);
  /// `NoValue` if there is none.
  int64_t value(size_t Formula, size_t Point);

private:
  const ir::ExprCode Code;
  ir::ColumnEvaluator Columns;
  ir::RowEvaluator Row; ///< of a point that lacks numbers
  std::vector<Column> Inputs;
};

/// Points that are evaluated together, a row for each.
struct PointBlock {
  static constexpr size_t Size = ir::ColumnEvaluator::BlockSize;

  explicit PointBlock(const AxisOrder &P)
      : Positions(P.Inner.size()), OuterPositions(P.Outer.size()) {}

  /// By inner axis: which value a row has.
  std::vector<std::array<uint32_t, Size>> Positions;
  std::array<int64_t, Size> Ids;
  /// By outer axis: which value all have.
  std::vector<size_t> OuterPositions;
};

class PointFilter {
public:
  PointFilter(const Sweep &S, const AxisOrder &P, const PointBlock &Block);
  PointFilter(const PointFilter &) = delete;
  PointFilter &operator=(const PointFilter &) = delete;

  /// Returns the keys of a job that are read besides its metrics.
  llvm::ArrayRef<ir::Key> jobKeys() const { return JobKeys; }
  bool reads(size_t InnerAxis) const { return Reads[InnerAxis]; }

  /// Returns the number of inner points from \p First on, which is \p Id, and
  /// before \p Last that are left out together. They are counted.
  int64_t prune(int64_t First, int64_t Last, int64_t Id);
  /// Leaves out rows for which a condition on axes does not hold.
  void exclude(std::vector<uint32_t> &Rows);
  /// Sets \p Into to a metric, or after all of them a key of the job, of the
  /// rows with the indices \p Of; to ir::NoValue for a metric that their jobs
  /// lack.
  using CopyFigure =
      llvm::function_ref<void(size_t Result, llvm::ArrayRef<uint32_t> Of,
                              llvm::MutableArrayRef<int64_t> Into)>;
  /// Adds legal rows of one structure to \p Out, if they are wanted.
  void accept(llvm::ArrayRef<uint32_t> Rows, CopyFigure Copy, Tally &Out);
  /// Moves what was left out since the last time to \p Out.
  void flush(Tally &Out);

private:
  /// A key of an axis.
  struct AxisKey {
    std::optional<size_t> Inner; ///< index, if it is an inner axis
    size_t Outer = 0;            ///< index of the outer axis, if not inner
    const std::vector<int64_t> *Numbers;
  };

  bool rejectLacking(llvm::ArrayRef<uint32_t> Rows, CopyFigure Copy);
  void copyTimes(llvm::ArrayRef<uint32_t> Rows, llvm::ArrayRef<int64_t> Fits,
                 CopyFigure Copy, Tally &Out);
  void fillAxis(const AxisKey &K, llvm::ArrayRef<uint32_t> Rows,
                llvm::MutableArrayRef<int64_t> Column) const;

  const SweepSpec &Spec;
  const AxisOrder &P;
  const PointBlock &Block;
  std::vector<AxisKey> AxisKeys; ///< of all axes in order
  /// Conditions that axes alone decide, and the others.
  const std::vector<size_t> AxisConditions, PointConditions;
  Formulas OfAxes, OfPoints, Measures;
  /// Whether points that do not fit need no time: they are not chosen, and no
  /// database has them.
  const bool LeavesUnfit;
  /// By formula of `OfAxes`: how many points that lie side by side are left out
  /// if one is.
  std::vector<int64_t> Spans;
  std::vector<ir::Key> JobKeys;
  std::vector<bool> Reads;               ///< by inner axis
  std::vector<Rejection> Unmet;          ///< by condition
  std::vector<Rejection> Missing;        ///< by metric of the sweep
  const std::vector<size_t> MetricsRead; ///< those that every point has
  std::vector<Rejection> Lacking; ///< parallel: of jobs without the metric
};

/// Adds \p Of to the tally, and empties it.
void moveRejections(RejectionCause Why, Rejection &Of, Tally &To);

/// Returns, by expression of \p T, the inner axis, from 1, after which no other
/// matters; 0 if none does. \p DepthOf returns that of a leaf.
std::vector<size_t> depthsOf(const ir::ExprTable &T,
                             llvm::function_ref<size_t(ir::Key)> DepthOf);
/// Points that are alike in the axes down to that depth.
inline int64_t spanAt(const AxisOrder &P, size_t Depth) {
  return Depth == 0 ? P.InnerSize : P.Spans[Depth - 1];
}

} // namespace foretrace::sweep
