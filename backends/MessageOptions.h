// SPDX-License-Identifier: Apache-2.0
//
// Options of the backends whose formats know messages between two ranks, but no
// collectives: how those are lowered.
#ifndef FORETRACE_BACKENDS_MESSAGEOPTIONS_H
#define FORETRACE_BACKENDS_MESSAGEOPTIONS_H

#include "backends/Backend.h"
#include "ir/TaskMessages.h"

namespace foretrace {

/// The names of these options: `chunk`, and `all_reduce` and so on, where there
/// is a choice.
std::vector<llvm::StringRef> messageOptionNames();

/// Reads these options of \p Emit; reports wrong values.
ir::MessageRules readMessageRules(const ir::EmitSpec &Emit,
                                  DiagnosticEngine &Diags);

/// Whether all ranks can be written, and all groups are of sizes that the
/// algorithms take; reports what is not so.
bool checkMessages(const EmitRequest &Request, const ir::MessageRules &Rules,
                   DiagnosticEngine &Diags);

/// Whether the job says how long computations take; reports that it does not.
bool checkHasTimes(const EmitRequest &Request, DiagnosticEngine &Diags);

} // namespace foretrace

#endif
