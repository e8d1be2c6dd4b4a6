// SPDX-License-Identifier: Apache-2.0
//
// The `simai` backend: SimAI/AICB workload tables.
#pragma once

#include "backends/Backend.h"
#include "backends/simai/Options.h"

namespace foretrace::simai {

ir::FactSet needs(const Options &O);
bool check(const EmitRequest &Request, const Options &O,
           DiagnosticEngine &Diags);
llvm::Error emit(const EmitRequest &Request, const Options &O, OutputSet &Out);
/// The command that runs SimAI's analytical simulator on \p File; empty if that
/// is no table.
std::string showCommand(const EmitRequest &Request, const Options &O,
                        llvm::StringRef File);
/// Derives a row, from 1, of the table of the selected stage, or of the block's
/// stage if none is selected: the collective and the time in each column.
llvm::Expected<std::vector<Subject>>
locate(const EmitRequest &Request, const Options &O, const CellQuery &Asked);

} // namespace foretrace::simai
