// SPDX-License-Identifier: Apache-2.0
//
// Which jobs a sweep goes through, which of them it wants, and what it measures
// of each besides what the analyses know.
#pragma once

#include "ir/model/Evaluate.h"
#include "lang/Source.h"
#include <string>

namespace foretrace {

struct SweepSpec {
  /// A key or a param of the job.
  struct Key {
    std::string Name; ///< as in -D
    SourceRange Range;
    std::vector<std::string> Values; ///< by position, as -D takes them
    std::vector<std::string> Words;  ///< as conditions compare them
    /// The numbers that expressions read, by position: the value, or the
    /// position if not all values are numbers.
    std::vector<int64_t> Numbers;
    bool AreCounts = false; ///< all values are numbers without a unit
  };
  /// Keys that change together; mostly a single one.
  struct Axis {
    std::vector<Key> Keys;
    SourceRange Range;
    size_t size() const { return Keys.front().Values.size(); }
  };
  /// A condition on points.
  struct Condition {
    ir::ExprId Holds; ///< 1 or 0; without a value it does not hold
    SourceRange Range;
    std::string Text;
  };
  /// The unit of a metric. A condition is 1 or 0; a time is in ns, and
  /// a share in millionths.
  enum class Type : unsigned char { Count, Bytes, Time, Share, Condition };
  /// A number of each point.
  struct Metric {
    std::string Name;
    Type Is;
    ir::ExprId Of;
    SourceRange Range;
    std::string Text;
  };
  enum class Kept : unsigned char {
    All,
    Pareto, ///< no other point is as small in all of `By` and smaller in one
    Top,    ///< the first of `By`
  };

  /// Axes and metrics as expressions know them: the keys of all axes in order,
  /// and those that every point has before `Metrics`.
  static ir::Key axisKey(size_t Index) {
    return {ir::KeyId::SweepAxis, static_cast<unsigned>(Index)};
  }
  static ir::Key metricKey(size_t Index) {
    return {ir::KeyId::SweepMetric, static_cast<unsigned>(Index)};
  }

  /// By key in the order of all axes: which axis has it.
  std::vector<size_t> axesOfKeys() const;
  /// Returns the keys in \p E, each once.
  std::vector<ir::Key> leavesOf(ir::ExprId E) const;
  /// The metrics that conditions, metrics and goals read, by number, sorted.
  std::vector<size_t> metricsRead() const;
  /// The axes that decide \p E, sorted; nothing if other keys or metrics do.
  std::optional<std::vector<size_t>> axesOf(ir::ExprId E) const;

  class Combinations;

  std::vector<Axis> Axes;
  ir::ExprTable Sizes; ///< of metrics and conditions
  std::vector<Metric> Metrics;
  std::vector<Condition> Conditions;
  /// A metric by its number, and whether more of it is better.
  struct Goal {
    size_t Metric;
    bool IsLargest;
  };
  std::optional<Goal> Best;
  Kept Keeps = Kept::All;
  std::vector<Goal> By;
  int64_t Count = 0; ///< of `Top`
  /// Points that do not fit into the memory of their devices can be the best
  /// and be kept by `Pareto` and `Top`.
  bool TakesUnfit = false;
  bool HasEmits = false;
};

/// Goes through all values of the axes that decide some expressions.
class SweepSpec::Combinations {
public:
  /// Other axes, and metrics, are not read.
  Combinations(const SweepSpec &S, llvm::ArrayRef<ir::ExprId> Of);

  /// Returns the number of points; SIZE_MAX if it is more.
  size_t size() const { return Size; }
  bool atEnd() const { return Position == Size; }
  void next();
  /// Returns the value of an expression; `NoValue` if it has none.
  int64_t value(size_t Expression) { return Row.value(Expression); }

private:
  void set();

  const ir::ExprCode Code;
  ir::RowEvaluator Row;
  /// By axis: the number of its values, and the keys they set.
  struct Digit {
    struct Leaf {
      size_t Index;
      const std::vector<int64_t> *Numbers;
    };
    size_t Size;
    std::vector<Leaf> Leaves;
  };
  std::vector<Digit> Digits;
  size_t Size = 1, Position = 0;
};

} // namespace foretrace
