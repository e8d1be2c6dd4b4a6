// SPDX-License-Identifier: Apache-2.0
//
// Calibrates a job by the traces of a run of it: what they measured, as a
// profile, and how well a replay with it meets them.
#pragma once

#include "lang/RowWriter.h"
#include "tools/runs/Calibration.h"
#include "tools/runs/RunChecker.h"

namespace foretrace::runs {

/// Returns \p Job without costs of its own, which are to be measured.
std::unique_ptr<CompiledJob> withoutCosts(const CompiledJob &Job);

/// First `gather`, then the rest.
class TraceCalibrator {
public:
  /// \p P is of a job `withoutCosts` and outlives this.
  TraceCalibrator(const ir::Program &P, TracedRun Run);

  /// Error if `check` would report something, or no row has a duration.
  llvm::Error gather();
  const Calibration &gathered() const { return Gathered; }
  /// Writes what was measured as a TOML file that a job can import.
  void writeProfile(llvm::raw_ostream &OS) const;
  /// The job with the times of the profile.
  std::unique_ptr<CompiledJob> fit(const CompiledJob &Uncosted) const;
  /// Prints how far the run is from the estimates of its program \p Fitted.
  void report(const ir::Program &Fitted, RowFormat As,
              llvm::raw_ostream &OS) const;

private:
  /// Forward and backward of each rank and iteration: medians, in ns, and the
  /// least and the greatest error.
  struct Pipelines {
    size_t Samples;
    double Measured, Replayed, Error, Least, Most;
  };
  std::optional<Pipelines> replayPipelines(const ir::Program &Fitted) const;

  const ir::Program &P;
  const TracedRun Run;
  const megatron::Skeleton Rows;
  Calibration Gathered;
};

} // namespace foretrace::runs
