// SPDX-License-Identifier: Apache-2.0
//
// `accounting = aicb`: the table that the public generator writes for this
// job, bug for bug. Its formulas are this mode's contract and concern nobody
// else; the IR is not used beyond the spec. docs/simai.md lists what it counts
// differently from the truth.
#pragma once

#include "backends/simai/Options.h"
#include "backends/simai/Table.h"

namespace foretrace::simai {

/// Builds the table of \p S as \p V of the generator does, timed if the job
/// has a profile. Nothing after an error (what the generator refuses, sizes of
/// 2^63 bytes).
std::optional<WorkloadTable> aicbTable(const ir::Spec &S, aicb::Version V,
                                       DiagnosticEngine &Diags);

/// Builds the table of a step of \p S, which serves.
std::optional<WorkloadTable> inferenceTable(const ir::Spec &S,
                                            DiagnosticEngine &Diags);

} // namespace foretrace::simai
