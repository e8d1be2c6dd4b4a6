// SPDX-License-Identifier: Apache-2.0
//
// The `chakra` backend: an execution trace of Chakra's schema 1.0.0 for every
// rank, and the file of its communicator groups, for ASTRA-sim. Private
// headers beside this one say how.
#ifndef FORETRACE_BACKENDS_CHAKRA_CHAKRA_H
#define FORETRACE_BACKENDS_CHAKRA_CHAKRA_H

#include "backends/Backend.h"

namespace foretrace::chakra {

ir::FactSet prepare(const ir::EmitSpec &Emit, DiagnosticEngine &Diags);
bool check(const EmitRequest &Request, DiagnosticEngine &Diags);
llvm::Error emit(const EmitRequest &Request, OutputSet &Out,
                 DiagnosticEngine &Diags);

} // namespace foretrace::chakra

#endif
