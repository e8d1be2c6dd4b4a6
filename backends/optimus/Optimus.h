// SPDX-License-Identifier: Apache-2.0
//
// The `optimus` backend: the partition plan of Optimus-Prime, ETRI's pipeline
// runtime, which cuts a traced model between calls of leaf modules.
#ifndef FORETRACE_BACKENDS_OPTIMUS_OPTIMUS_H
#define FORETRACE_BACKENDS_OPTIMUS_OPTIMUS_H

#include "backends/Backend.h"
#include "backends/optimus/LogCheck.h"

namespace foretrace::optimus {

ir::FactSet prepare(const ir::EmitSpec &Emit, DiagnosticEngine &Diags);
/// Reports models that are of no family, and more stages than can be cut.
bool check(const EmitRequest &Request, DiagnosticEngine &Diags);
llvm::Error emit(const EmitRequest &Request, OutputSet &Out,
                 DiagnosticEngine &Diags);
/// Holds the log of a run against the plan, after `check`.
LogSummary checkRun(const EmitRequest &Request, llvm::StringRef Text,
                    llvm::function_ref<void(LogDifference)> Report);

} // namespace foretrace::optimus

#endif
