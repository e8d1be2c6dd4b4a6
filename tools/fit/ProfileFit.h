// SPDX-License-Identifier: Apache-2.0
//
// From measured durations to the parameters of a device's profile.
#pragma once

#include "lang/RowWriter.h"
#include "tools/fit/Measurements.h"
#include "tools/fit/ParameterSolver.h"
#include "llvm/Support/raw_ostream.h"

namespace foretrace::fit {

/// Reports a job without the parameters that a fit begins with.
bool checkProfile(const ir::Spec &Job, DiagnosticEngine &Diags);

/// Durations that follow from the same parameters.
struct FittedFamily {
  std::string Name; ///< `products in bf16`
  std::vector<ir::KernelParameterId> Parameters;
  size_t Rows = 0;
  /// Mean and largest relative error of the rows, with the parameters before
  /// and after.
  double MeanBefore = 0, Mean = 0, Worst = 0;
};

/// Fits the laws of kernels and links, which take the device's rates from a
/// job. The parameters minimize the squares of the logarithms of estimated by
/// measured durations. A parameter that these do not determine keeps its value.
class ProfileFit {
public:
  /// \p Job has `cost estimate`, whose parameters are those before.
  explicit ProfileFit(const ir::Spec &Job);

  /// Fits kernels and collectives, without the worst tenth of each family. A
  /// single row outweighs the default \p WeightOfStart (ParameterProblem).
  void fit(llvm::ArrayRef<Measurement> Measured, double WeightOfStart = 1e-3);
  /// Fits to rows that the caller estimates.
  void fit(std::string Name, const ParameterProblem &Of);

  llvm::ArrayRef<FittedFamily> families() const { return Families; }
  /// Reports families that were not fitted, since the profile lacks one of
  /// their parameters.
  void reportIncomplete(DiagnosticEngine &Diags) const;
  const LawParameters &before() const { return Before; }
  const LawParameters &after() const { return After; }

  /// Writes all parameters that the job or its profile states, and those that
  /// were fitted, as TOML that a job can import.
  void writeProfile(llvm::raw_ostream &OS) const;
  /// Writes the errors of each family, then its parameters before and after.
  void report(RowFormat As, llvm::raw_ostream &OS) const;

private:
  void finish(FittedFamily Of, const LawParameters &Found, RatiosFn Ratios);
  bool isComplete(const FittedFamily &Of);

  const ir::Spec &Job;
  const ir::DeviceSpec Device;
  LawParameters Before, After;
  std::vector<FittedFamily> Families, Incomplete;
};

} // namespace foretrace::fit
