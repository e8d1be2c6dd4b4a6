// SPDX-License-Identifier: Apache-2.0
//
// Traces a cell of a backend's output back to its source. A backend that can do
// so has a function `locate` beside the code that fills the cell, and its row
// of Backends.def lists what selects one.
#pragma once

#include "analysis/Derivation.h"
#include "backends/Backend.h"
#include "llvm/Support/Error.h"

namespace foretrace {

/// Makes an error about \p Option from the first error of \p Diags, which has
/// one.
llvm::Error errorOf(llvm::StringRef Option, const DiagnosticEngine &Diags);

/// Returns an error if the job has no rank \p Rank.
llvm::Error checkRank(const ir::Program &P, int64_t Rank);
/// Returns the stage of \p Rank, a rank of the job.
int64_t stageOf(const ir::Program &P, int64_t Rank);

/// Finds the figure of \p F named \p Asked: the key of a named figure, or
/// `TABLE/ROW/COLUMN`, where ROW is the text of the row's first cell or its
/// index from 0. The derivation is the expression that the backend summed up.
llvm::Expected<Subjects> locateFigure(const EmitRequest &Request,
                                      const Figures &F, llvm::StringRef Asked);

} // namespace foretrace
