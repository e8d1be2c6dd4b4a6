// SPDX-License-Identifier: Apache-2.0
//
// `accounting = exact`: the table of one pipeline stage as the IR derives it.
#pragma once

#include "backends/simai/LeftOut.h"
#include "backends/simai/Options.h"
#include "backends/simai/Table.h"
#include "ir/model/Program.h"

namespace foretrace::simai {

/// The whole iteration of \p S: synchronisation, then every micro-batch.
/// Adds what the format can't express to \p Lost, as missing in \p File.
WorkloadTable exactTable(const ir::Program &P, const ir::Stage &S,
                         llvm::StringRef File, LeftOut &Lost);

/// Returns the bytes of a message between stages as the table of \p S has them:
/// those of what the first chunk sends forward, or the last stage receives.
int64_t stageMessageBytes(const ir::Program &P, const ir::Stage &S);

/// The stages that \p Choice means; the worst is the one with the longest
/// compute time, then the most bytes. Empty after an error.
std::vector<const ir::Stage *> chosenStages(const ir::Program &P,
                                            const StageChoice &Choice,
                                            DiagnosticEngine &Diags);

} // namespace foretrace::simai
