// SPDX-License-Identifier: Apache-2.0
//
// Nonlinear least squares over parameters of laws. Private to this folder.
#pragma once

#include "analysis/KernelLaws.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace foretrace::fit {

/// Fills a ratio of estimated by measured duration for each row.
using RatiosFn = llvm::function_ref<void(const LawParameters &,
                                         llvm::MutableArrayRef<double> Ratios)>;

/// A least-squares problem.
struct ParameterProblem {
  llvm::ArrayRef<ir::KernelParameterId> Of;
  /// By row, of the logarithms of ratios.
  llvm::ArrayRef<double> Weights;
  RatiosFn Ratios;
  /// The weight of each parameter's logarithm, relative to the start. It
  /// decides parameters that the rows do not determine.
  double WeightOfStart;
  /// Parameters that may have no effect at their start, with multiples of it
  /// that are tried as starts, too.
  llvm::ArrayRef<std::pair<ir::KernelParameterId, double>> Tried = {};
};

/// Returns \p Start with the parameters, within their ranges, that minimize the
/// weighted squares.
LawParameters solve(const ParameterProblem &Problem,
                    const LawParameters &Start);

} // namespace foretrace::fit
