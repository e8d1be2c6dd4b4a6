// SPDX-License-Identifier: Apache-2.0
//
// In which order the axes of a sweep are gone through: outside those for which
// a job has to be read again, inside the numbers of `train`, `parallel` and the
// model, whose values are columns.
#ifndef FORETRACE_TOOLS_SWEEP_PLAN_H
#define FORETRACE_TOOLS_SWEEP_PLAN_H

#include "ir/Expr.h"
#include "tools/sweep/Space.h"
#include <optional>

namespace foretrace::sweep {

/// An axis of a space; what it is as numbers, of an inner one.
struct Step {
  size_t Axis;
  ir::Key Key;
  std::vector<int64_t> Values;
};

struct Plan {
  explicit Plan(const Space &S);

  std::vector<Step> Outer, Inner; ///< the last one changes first
  int64_t InnerSize = 1;          ///< points of the inner ones
  /// By inner axis: points that have the same values of it and of those
  /// outside.
  std::vector<int64_t> Spans;
};

} // namespace foretrace::sweep

#endif
