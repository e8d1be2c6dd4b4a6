// SPDX-License-Identifier: Apache-2.0
//
// The `goal` backend: what every rank does, as messages and computations with
// dependences between them, in one file for LogGOPSim and htsim (GOAL,
// Hoefler, Siebert and Lumsdaine, ICPP 2009).
#ifndef FORETRACE_BACKENDS_GOAL_GOAL_H
#define FORETRACE_BACKENDS_GOAL_GOAL_H

#include "backends/Backend.h"

namespace foretrace::goal {

ir::FactSet prepare(const ir::EmitSpec &Emit, DiagnosticEngine &Diags);
bool check(const EmitRequest &Request, DiagnosticEngine &Diags);
llvm::Error emit(const EmitRequest &Request, OutputSet &Out,
                 DiagnosticEngine &Diags);

} // namespace foretrace::goal

#endif
