// SPDX-License-Identifier: Apache-2.0
//
// The least that fitting measured times takes.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include <vector>

namespace foretrace::runs {

/// The middle one, or between the two; 0 of none.
double median(std::vector<double> Values);

/// The number that most have; of equals, the largest; 0 of none.
size_t commonest(llvm::ArrayRef<size_t> Numbers);

/// y = Start + Slope * x.
struct FittedLine {
  double Start = 0, Slope = 0;
};
struct Point {
  double X, Y; ///< Y in ns
};
/// The shortest time, in ns, that clocks measure: relative errors of shorter
/// ones mean nothing.
constexpr double LeastTime = 1;
/// Fits relative errors by least squares, neither number negative. If all
/// points have one x, the start is 0. Points below LeastTime are left out.
FittedLine fitLine(llvm::ArrayRef<Point> Points);

/// Least squares of A x = b with x >= 0, by coordinate descent: where several
/// solutions are as good, the unknowns that come first take what they can. A
/// has a row for each element of \p B.
std::vector<double> solveNonNegative(llvm::ArrayRef<std::vector<double>> A,
                                     llvm::ArrayRef<double> B);

/// The rank of \p A.
size_t rankOf(std::vector<std::vector<double>> A);

} // namespace foretrace::runs
