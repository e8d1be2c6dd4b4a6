// SPDX-License-Identifier: Apache-2.0
//
// Which of the accepted points a sweep keeps.
#pragma once

#include "frontend/sweep/SweepSpec.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Error.h"

namespace foretrace::sweep {

/// A metric by which points are compared.
struct Goal {
  std::string Metric; ///< its name
  size_t Index;       ///< its number
  bool IsLargest;     ///< more of it is better
};
Goal goalOf(const SweepSpec &S, const SweepSpec::Goal &G);

/// The points that are kept.
struct Choice {
  SweepSpec::Kept Keeps = SweepSpec::Kept::All;
  size_t Count = 0; ///< of `Top`
  std::vector<Goal> By;
  bool TakesUnfit = false; ///< points that do not fit, too

  static Choice of(const SweepSpec &S);
  /// The best point alone; without a goal if the sweep has none. Of equal
  /// points it is the one with the least time, if the sweep reads times.
  static Choice best(const SweepSpec &S);
  bool hasGoal() const { return !By.empty(); }
  /// `all`, `pareto` or `top 10`, then a line for each goal, `least memory`,
  /// and `fits any` if points that do not fit are chosen, too.
  std::string text() const;
  /// Reads what text() returns; the numbers of metrics are those of \p By.
  static llvm::Expected<Choice> read(llvm::StringRef Text);
};

/// Keeps the same points in whatever order they come. Of several that are equal
/// in all that is compared, only the one with the lowest number is kept. Those
/// that do not fit into the memory of their devices are dropped unless the
/// choice takes them.
class Chooser {
public:
  explicit Chooser(Choice C) : By(std::move(C)) {}

  struct Point {
    int64_t Id;
    std::vector<int64_t> Values; ///< by goal; less is better
    int64_t Equal = 1; ///< number of points with the best value of its goal
    bool IsEligible = true;
  };
  const Choice &choice() const { return By; }
  bool keepsAll() const { return By.Keeps == SweepSpec::Kept::All; }
  /// \p MetricAt returns a metric of the point; it is called for each goal in
  /// order, then for `fits` if the choice reads it.
  Point pointOf(int64_t Id, llvm::function_ref<int64_t(size_t)> MetricAt) const;
  /// Adds points; returns those that are not kept any more, or not at all.
  std::vector<int64_t> add(std::vector<Point> Points);
  /// The best first; empty if all are.
  llvm::ArrayRef<Point> kept() const { return Kept; }

private:
  Choice By;
  std::vector<Point> Kept;
};

} // namespace foretrace::sweep
