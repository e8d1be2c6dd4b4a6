// SPDX-License-Identifier: Apache-2.0
//
// The jobs of a sweep: every combination of the values of some axes.
#ifndef FORETRACE_TOOLS_SWEEP_SPACE_H
#define FORETRACE_TOOLS_SWEEP_SPACE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <string>
#include <vector>

namespace foretrace::sweep {

/// A key or a param of a job, and what it is in turn.
struct Axis {
  std::string Name;                ///< as -D takes it
  std::vector<std::string> Values; ///< as -D takes them; each once, not empty
};

/// Reads `parallel.tp=1,2,4`: words and expressions, separated by commas;
/// `1..16` stands for all integers from the first to the last, `powers(1,64)`
/// for powers of two, `divisors(96)` for divisors.
llvm::Expected<Axis> readAxis(llvm::StringRef Text);

/// Points are numbered from 0 as the axes are given; the last one changes
/// first.
class Space {
public:
  /// An error if there are 2^63 points or more, or an axis stands twice.
  static llvm::Expected<Space> make(std::vector<Axis> Axes);

  llvm::ArrayRef<Axis> axes() const { return Axes; }
  int64_t size() const { return Size; }
  /// How far apart points are that differ by one value of an axis.
  int64_t stride(size_t Axis) const { return Strides[Axis]; }
  /// Which value of an axis a point has.
  size_t indexAt(int64_t Point, size_t Axis) const {
    return static_cast<size_t>(Point / Strides[Axis]) %
           Axes[Axis].Values.size();
  }
  llvm::StringRef valueAt(int64_t Point, size_t Axis) const {
    return Axes[Axis].Values[indexAt(Point, Axis)];
  }
  /// What -D says of a point.
  std::vector<std::string> overridesOf(int64_t Point) const;

private:
  std::vector<Axis> Axes;
  std::vector<int64_t> Strides;
  int64_t Size = 1;
};

} // namespace foretrace::sweep

#endif
