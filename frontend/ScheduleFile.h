// SPDX-License-Identifier: Apache-2.0
//
// Reads PyTorch's schedule files, which torchtitan takes as
// `pipeline_parallel_schedule_csv`: a line for each rank of the pipeline, cells
// separated by commas.
// Private to the frontend.
#ifndef FORETRACE_FRONTEND_SCHEDULEFILE_H
#define FORETRACE_FRONTEND_SCHEDULEFILE_H

#include "ir/model/Spec.h"
#include "lang/Diagnostic.h"
#include "llvm/ADT/StringRef.h"

namespace foretrace {

/// The steps of every line of \p Source; reports what is no cell. Empty cells
/// are times of idleness: nothing follows from them. Nor does anything from
/// messages, and from what gathers, frees and reduces: the steps imply the
/// first, ZeRO the rest.
std::vector<std::vector<ir::ScheduleSteps>>
readScheduleFile(SourceText Source, DiagnosticEngine &Diags);

} // namespace foretrace

#endif
