// SPDX-License-Identifier: Apache-2.0
//
// The jobs of a sweep, every combination of the values of some axes, and the
// order in which they are visited.
#pragma once

#include "frontend/sweep/SweepSpec.h"
#include "ir/model/Expr.h"
#include "llvm/Support/Error.h"
#include <optional>

namespace foretrace::sweep {

/// Points are numbered from 0 as the axes are given; the last one changes
/// first.
class Space {
public:
  /// An error if there are 2^63 points or more.
  static llvm::Expected<Space> make(SweepSpec Spec);

  const SweepSpec &spec() const { return Spec; }
  llvm::ArrayRef<SweepSpec::Axis> axes() const { return Spec.Axes; }
  int64_t size() const { return Size; }
  /// Returns the distance of points that differ by one value of an axis.
  int64_t stride(size_t Axis) const { return Strides[Axis]; }
  /// Returns which value of an axis a point has.
  size_t indexAt(int64_t Point, size_t Axis) const {
    return static_cast<size_t>(Point / Strides[Axis]) % axes()[Axis].size();
  }
  /// Returns the -D options of a point.
  std::vector<std::string> overridesOf(int64_t Point) const;

private:
  SweepSpec Spec;
  std::vector<int64_t> Strides;
  int64_t Size = 1;
};

/// Appends the text of -D for one value of an axis.
void appendOverrides(const SweepSpec::Axis &A, size_t Position,
                     std::vector<std::string> &To);

/// An axis of a space; for an inner one with its keys.
struct OrderedAxis {
  size_t Axis;
  std::vector<ir::Key> Keys;
  size_t Size;
};

/// Order in which the axes of a space are visited: outer axes need the job to
/// be read again; inner ones are numbers of `train`, `parallel` and the model,
/// whose values are columns.
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
