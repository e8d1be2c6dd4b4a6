// SPDX-License-Identifier: Apache-2.0
//
// The `ir` backend: the text form of the program at a level.
#ifndef FORETRACE_BACKENDS_IR_IR_H
#define FORETRACE_BACKENDS_IR_IR_H

#include "backends/Backend.h"

namespace foretrace::irtext {

/// Options: `level` (spec, model, spmd, schedule; the last is the default) and
/// `file` (standard output if absent).
ir::FactSet prepare(const ir::EmitSpec &Emit, DiagnosticEngine &Diags);
bool check(const EmitRequest &Request, DiagnosticEngine &Diags);
llvm::Error emit(const EmitRequest &Request, OutputSet &Out,
                 DiagnosticEngine &Diags);

} // namespace foretrace::irtext

#endif
