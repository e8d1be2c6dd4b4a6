// SPDX-License-Identifier: Apache-2.0
//
// The jobs of a sweep: every combination of the values of some axes.
#pragma once

#include "frontend/sweep/SweepSpec.h"
#include "llvm/Support/Error.h"

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
  /// How far apart points are that differ by one value of an axis.
  int64_t stride(size_t Axis) const { return Strides[Axis]; }
  /// Which value of an axis a point has.
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

/// Appends what -D says of one value of an axis.
void appendOverrides(const SweepSpec::Axis &A, size_t Position,
                     std::vector<std::string> &To);

} // namespace foretrace::sweep
