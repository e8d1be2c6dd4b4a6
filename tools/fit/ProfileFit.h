// SPDX-License-Identifier: Apache-2.0
//
// From measured durations to the parameters of a device's profile.
#ifndef FORETRACE_TOOLS_FIT_PROFILEFIT_H
#define FORETRACE_TOOLS_FIT_PROFILEFIT_H

#include "lang/RowWriter.h"
#include "tools/fit/Measurements.h"
#include "llvm/Support/raw_ostream.h"

namespace foretrace::fit {

/// Measurements whose durations follow from the same parameters.
struct FittedFamily {
  std::string Name; ///< `products in bf16`
  std::vector<ir::KernelParameterId> Parameters;
  std::vector<const Measurement *> Rows;
  /// Mean and largest relative error of the rows, with the parameters before
  /// and after.
  double MeanBefore = 0, Mean = 0, Worst = 0;
};

/// Fits the laws of kernels and links, which take the device's rates from a
/// job. The parameters minimize the squares of the logarithms of estimated by
/// measured durations, without the worst tenth of them. A parameter that the
/// measurements do not determine keeps its value.
class ProfileFit {
public:
  /// \p Job has `cost estimate`, whose parameters are those before.
  ProfileFit(const ir::Spec &Job, llvm::ArrayRef<Measurement> Measured);

  llvm::ArrayRef<FittedFamily> families() const { return Families; }
  /// Families that were not fitted, since the profile lacks one of their
  /// parameters.
  llvm::ArrayRef<FittedFamily> incomplete() const { return Incomplete; }
  const LawParameters &before() const { return Before; }
  const LawParameters &after() const { return After; }

  /// Writes all parameters that the job or its profile states, and those that
  /// were fitted, as TOML that a job can import.
  void writeProfile(llvm::raw_ostream &OS) const;
  /// Writes the errors of each family, then its parameters before and after.
  void report(RowFormat As, llvm::raw_ostream &OS) const;

private:
  void fit(FittedFamily &Of);
  double errorOf(const Measurement &M, const LawParameters &With) const;

  const ir::Spec &Job;
  const ir::DeviceSpec Device;
  LawParameters Before, After;
  std::vector<FittedFamily> Families, Incomplete;
};

} // namespace foretrace::fit

#endif
