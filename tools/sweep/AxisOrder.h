// SPDX-License-Identifier: Apache-2.0
//
// Order of the axes of a sweep: outer axes need the job to be read again; inner
// ones are numbers of `train`, `parallel` and the model, whose values are
// columns.
#pragma once

#include "ir/model/Expr.h"
#include "tools/sweep/Space.h"
#include <optional>

namespace foretrace::sweep {

/// An axis of a space; for an inner one with its keys.
struct OrderedAxis {
  size_t Axis;
  std::vector<ir::Key> Keys;
  size_t Size;
};

/// Order in which the axes of a space are visited.
struct AxisOrder {
  explicit AxisOrder(const Space &S);

  /// Returns the index of an inner axis's value at an inner point.
  size_t positionAt(int64_t InnerPoint, size_t Axis) const {
    return static_cast<size_t>(InnerPoint / Spans[Axis]) % Inner[Axis].Size;
  }

  std::vector<OrderedAxis> Outer, Inner; ///< the last one changes first
  int64_t InnerSize = 1;                 ///< points of the inner ones
  /// By inner axis: points that have the same values of it and of those
  /// outside.
  std::vector<int64_t> Spans;
};

} // namespace foretrace::sweep
