// SPDX-License-Identifier: Apache-2.0
//
// Judges and measures the points of a sweep. Axes that are numbers of sections
// are evaluated in columns, in structures that are compiled once; every
// combination of the others is read as a job of its own.
#pragma once

#include "analysis/Figures.h"
#include "frontend/sweep/CompileSweep.h"
#include "ir/model/Facts.h"
#include "tools/sweep/AxisOrder.h"
#include "tools/sweep/Choice.h"
#include "tools/sweep/FrozenFiles.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <map>

namespace foretrace {
class CompiledJob;
} // namespace foretrace

namespace foretrace::sweep {

/// Why points are rejected: what the compiler reports first, and the key whose
/// value is out of place; none if no number is.
struct RejectionCause {
  diag::Id Reported;
  std::string Key;
  friend bool operator<(const RejectionCause &A, const RejectionCause &B) {
    return std::tie(A.Reported, A.Key) < std::tie(B.Reported, B.Key);
  }
};

/// Points that are rejected alike.
struct Rejection {
  int64_t Count = 0;
  int64_t Example = INT64_MAX; ///< the least; in a part, one of its points
};

/// Counts a rejected point, or several of which \p Point is the least.
inline void addRejected(Rejection &To, int64_t Point, int64_t Count = 1) {
  To.Count += Count;
  To.Example = std::min(To.Example, Point);
}

/// Counts of accepted and rejected points.
struct Tally {
  int64_t NumAccepted = 0;
  int64_t NumUnfit = 0; ///< of these: more than the memory of a device
  /// The best points, if the sweep has a goal.
  std::vector<Chooser::Point> Best;
  /// The accepted points that are kept.
  std::vector<int64_t> Accepted;
  /// By metric, in the order of `allFigures`, of each of these;
  /// ir::NoValue for one that the job lacks.
  std::vector<std::vector<int64_t>> Metrics;
  std::map<RejectionCause, Rejection> Rejected;
  /// Files that were read for it, with digests of their contents.
  std::map<std::string, std::string> Files;
  /// Numeric axes, by which something was decided or measured so far.
  std::vector<size_t> Effective;

  /// The points as \p C compares them.
  std::vector<Chooser::Point> points(const Chooser &C) const;
  /// Finds the best, and leaves what is chosen of its own points.
  void reduce(const Choice &Best, const Choice &Kept);
};

/// One part of a sweep that several processes do.
struct Shard {
  int64_t Index = 1, Count = 1; ///< the first is 1

  /// Reads `2/4`.
  static llvm::Expected<Shard> read(llvm::StringRef Text);
  std::string text() const;
  bool has(int64_t Unit) const { return Unit % Count == Index - 1; }
};

/// Returns whether conditions, metrics or goals read the time of an iteration.
bool readsTime(const SweepSpec &S);
/// Returns the facts that the metrics of a sweep need.
ir::FactSet factsOfMetrics(const SweepSpec &S);

/// Returns the metrics of a sweep in the order of the columns of a database:
/// those of the analyses, then its own.
std::vector<FigureInfo> allMetrics(const SweepSpec &S);
/// Returns the request of every sweep: the metrics of the analyses.
SweepRequest makeRequest();

/// A sweep: the job at a path, with axes.
struct Sweep {
  std::string Job;
  FrontendOptions Options;
  DiagnosticEngine Diags; ///< without messages: what is allowed
  sweep::Space Space;
  std::vector<size_t> MetricsRead = Space.spec().metricsRead();
  Shard Of = {};
  /// Digest of its files; see digestOf.
  std::string Sources = {};
  /// Bytes that tensors can have of a device; see usableMemoryOf.
  std::optional<int64_t> UsableMemory = {};
  /// Whether metrics that nothing reads are measured, too: a point for which one
  /// exceeds 2^63 is rejected.
  bool MeasuresAll = true;
  /// Whether unread metrics are also computed point by point, for a database.
  bool TimesAll = true;
  bool measures(size_t Metric) const {
    return MeasuresAll || llvm::is_contained(MetricsRead, Metric);
  }
  bool times(size_t Metric) const {
    return TimesAll || llvm::is_contained(MetricsRead, Metric);
  }
  bool IsDurable = false; ///< what is found survives a loss of power at once
  /// The files that all points are read from.
  llvm::IntrusiveRefCntPtr<FrozenFiles> Files =
      llvm::makeIntrusiveRefCnt<FrozenFiles>();
};

/// Returns the memory that tensors can have of a device of the cluster of
/// \p First, the first point; nothing if it has none, or if an axis is a key of
/// clusters.
std::optional<int64_t> usableMemoryOf(const CompiledJob &First,
                                      const Space &Of);

/// Cuts the points of a sweep into units, and evaluates these.
class Engine {
public:
  explicit Engine(const Sweep &S);

  /// Returns the units of all shards, the same for any number of threads.
  int64_t units() const;
  int64_t pointsOf(int64_t Unit) const;
  /// Returns the points of the shard.
  int64_t points() const;
  /// Runs all units of the shard except \p Done, which is sorted, on \p Threads
  /// threads (0: one per processor), and passes their results to \p Take, in
  /// order, until it returns false.
  void run(llvm::ArrayRef<int64_t> Done, unsigned Threads,
           llvm::function_ref<bool(int64_t Unit, Tally &&)> Take) const;

private:
  const Sweep &S;
  const AxisOrder P;
  const Choice Best, Kept;
};

} // namespace foretrace::sweep
