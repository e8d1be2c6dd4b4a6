// SPDX-License-Identifier: Apache-2.0
//
// The `plan` backend: which layers each pipeline stage holds, and what that
// weighs: a table, JSON, CSV, or a picture.
#ifndef FORETRACE_BACKENDS_PLAN_PLAN_H
#define FORETRACE_BACKENDS_PLAN_PLAN_H

#include "backends/Backend.h"

namespace foretrace::plan {

ir::FactSet prepare(const ir::EmitSpec &Emit, DiagnosticEngine &Diags);
bool check(const EmitRequest &Request, DiagnosticEngine &Diags);
llvm::Error emit(const EmitRequest &Request, OutputSet &Out,
                 DiagnosticEngine &Diags);

} // namespace foretrace::plan

#endif
