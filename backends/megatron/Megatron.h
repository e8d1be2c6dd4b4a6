// SPDX-License-Identifier: Apache-2.0
//
// The `megatron` backend: the trace that every rank of the job should leave.
#ifndef FORETRACE_BACKENDS_MEGATRON_MEGATRON_H
#define FORETRACE_BACKENDS_MEGATRON_MEGATRON_H

#include "backends/Backend.h"

namespace foretrace::megatron {

ir::FactSet prepare(const ir::EmitSpec &Emit, DiagnosticEngine &Diags);
bool check(const EmitRequest &Request, DiagnosticEngine &Diags);
/// Writes `DIR/rankN.txt` for every rank asked for.
llvm::Error emit(const EmitRequest &Request, OutputSet &Out,
                 DiagnosticEngine &Diags);

} // namespace foretrace::megatron

#endif
