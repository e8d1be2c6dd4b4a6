// SPDX-License-Identifier: Apache-2.0
//
// From the traces of a run to the parameters of a device's profile.
#pragma once

#include "tools/compiler/CompiledJob.h"
#include "tools/fit/ProfileFit.h"
#include "tools/runs/Calibration.h"

namespace foretrace::fit {

/// Returns \p Job with the load of experts that \p Run had, which the program
/// of its estimate assumes.
std::unique_ptr<CompiledJob> withMeasuredLoad(const CompiledJob &Job,
                                              const runs::Calibration &Run);

/// The estimate of the forward and backward steps of a run.
struct PipelineEstimate {
  double Measured;      ///< ns; the median of ranks of the first stage; 0 if
                        ///< there are no traces of them
  double Before, After; ///< with the parameters before and after the fit
};

/// Fits collectives and messages of \p Run by their sizes, and then what
/// decides the time of steps: rates in training, starts of products of experts,
/// embeddings, launches. \p Job has costs, stages and a schedule.
PipelineEstimate fitRun(ProfileFit &To, const ir::Program &Job,
                        const runs::Calibration &Run);

/// Writes the report of the fit, and how far the estimate of the pipeline is
/// from the run before and after it.
void report(const ProfileFit &Of, const PipelineEstimate &Whole, RowFormat As,
            llvm::raw_ostream &OS);

} // namespace foretrace::fit
