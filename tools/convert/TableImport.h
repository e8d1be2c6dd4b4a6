// SPDX-License-Identifier: Apache-2.0
//
// A SimAI/AICB workload table as a program of the IR, so that every backend
// that writes what ranks do can write it.
#pragma once

#include "ir/model/Program.h"
#include "tools/validate/Findings.h"

namespace foretrace::convert {

/// Returns the program of a pipeline stage's ranks, as SimAI runs the table
/// \p Text at \p Path (SimAI 1.6, Workload.cc,
/// iterate_hybrid_parallel_Transformer_fwd_in_bckwd): all rows forward, then
/// from the last to the first backward and for the weights. Computations wait
/// for the messages of the first two columns, not for those of the third.
///
/// A table has one stage, all its micro-batches one after the other. The
/// program is of that stage, tp x dp ranks, with a single micro-batch. Messages
/// of groups of one rank are left out.
///
/// \p Found receives what can't be read, \p Diags what can't be expressed.
/// Nothing is returned after an error in either.
std::optional<ir::Program> importTable(SourceText Text, llvm::StringRef Path,
                                       validate::Findings &Found,
                                       DiagnosticEngine &Diags);

} // namespace foretrace::convert
