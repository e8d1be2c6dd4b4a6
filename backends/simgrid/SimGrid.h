// SPDX-License-Identifier: Apache-2.0
//
// The `simgrid` backend: what every rank does, in order, as time-independent
// traces for the replay of SimGrid (SMPI), a file each.
#ifndef FORETRACE_BACKENDS_SIMGRID_SIMGRID_H
#define FORETRACE_BACKENDS_SIMGRID_SIMGRID_H

#include "backends/Backend.h"

namespace foretrace::simgrid {

ir::FactSet prepare(const ir::EmitSpec &Emit, DiagnosticEngine &Diags);
bool check(const EmitRequest &Request, DiagnosticEngine &Diags);
llvm::Error emit(const EmitRequest &Request, OutputSet &Out,
                 DiagnosticEngine &Diags);

} // namespace foretrace::simgrid

#endif
