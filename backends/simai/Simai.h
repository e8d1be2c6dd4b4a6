// SPDX-License-Identifier: Apache-2.0
//
// The `simai` backend: SimAI/AICB workload tables.
#ifndef FORETRACE_BACKENDS_SIMAI_SIMAI_H
#define FORETRACE_BACKENDS_SIMAI_SIMAI_H

#include "backends/Backend.h"

namespace foretrace::simai {

ir::FactSet prepare(const ir::EmitSpec &Emit, DiagnosticEngine &Diags);
bool check(const EmitRequest &Request, DiagnosticEngine &Diags);
llvm::Error emit(const EmitRequest &Request, OutputSet &Out,
                 DiagnosticEngine &Diags);
/// The command that runs SimAI's analytical simulator on \p File; empty if that
/// is no table.
std::string showCommand(const EmitRequest &Request, llvm::StringRef File);

} // namespace foretrace::simai

#endif
