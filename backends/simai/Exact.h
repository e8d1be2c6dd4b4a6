// SPDX-License-Identifier: Apache-2.0
//
// `accounting = exact`: the table of one pipeline stage as the IR derives it.
#ifndef FORETRACE_BACKENDS_SIMAI_EXACT_H
#define FORETRACE_BACKENDS_SIMAI_EXACT_H

#include "backends/simai/Options.h"
#include "backends/simai/Table.h"
#include "ir/Program.h"

namespace foretrace::simai {

/// Traffic that a table has no column for, over one iteration of one rank.
struct LeftOut {
  std::string What; ///< "all_gather over cp"
  Bytes Total;
};

/// The whole iteration of \p S: synchronisation, then every micro-batch.
/// What the format can't say is added to \p Lost.
Table exactTable(const ir::Program &P, const ir::Stage &S,
                 std::vector<LeftOut> &Lost);

/// The stages that \p Choice means; the worst is the one with the longest
/// compute time, then the most bytes. Empty after an error.
std::vector<const ir::Stage *> chosenStages(const ir::Program &P,
                                            const StageChoice &Choice,
                                            DiagnosticEngine &Diags);

} // namespace foretrace::simai

#endif
