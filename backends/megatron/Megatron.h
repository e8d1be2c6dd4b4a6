// SPDX-License-Identifier: Apache-2.0
//
// The `megatron` backend: the trace that every rank of the job should leave.
#pragma once

#include "backends/Backend.h"
#include "backends/megatron/Options.h"

namespace foretrace::megatron {

ir::FactSet needs(const Options &O);
bool check(const EmitRequest &Request, const Options &O,
           DiagnosticEngine &Diags);
/// Writes `DIR/rankN.txt` for every rank asked for.
llvm::Error emit(const EmitRequest &Request, const Options &O, OutputSet &Out);
/// Derives a row, from 1, of the trace of a rank: the row, its calls, and what
/// it transfers without a call.
llvm::Expected<std::vector<Subject>>
locate(const EmitRequest &Request, const Options &O, const CellQuery &Asked);

} // namespace foretrace::megatron
