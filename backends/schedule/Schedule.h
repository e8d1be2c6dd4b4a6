// SPDX-License-Identifier: Apache-2.0
//
// The `schedule` backend: what every pipeline stage runs, and when: a grid for
// a terminal, a picture, PyTorch's schedule file, or exact numbers. It unfolds
// the schedule of the IR.
#ifndef FORETRACE_BACKENDS_SCHEDULE_SCHEDULE_H
#define FORETRACE_BACKENDS_SCHEDULE_SCHEDULE_H

#include "backends/Backend.h"

namespace foretrace::schedule {

ir::FactSet prepare(const ir::EmitSpec &Emit, DiagnosticEngine &Diags);
bool check(const EmitRequest &Request, DiagnosticEngine &Diags);
llvm::Error emit(const EmitRequest &Request, OutputSet &Out,
                 DiagnosticEngine &Diags);

} // namespace foretrace::schedule

#endif
