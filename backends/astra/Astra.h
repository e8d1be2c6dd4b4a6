// SPDX-License-Identifier: Apache-2.0
//
// The `astra-sim` backend: what ASTRA-sim needs beside Chakra traces, from the
// cluster of the job. Private headers beside this one say how.
#pragma once

#include "backends/Backend.h"
#include "backends/astra/Options.h"

namespace foretrace::astra {

ir::FactSet needs(const Options &O);
/// Reports jobs that are no grid on their cluster, and what ASTRA-sim would
/// take and never end.
bool check(const EmitRequest &Request, const Options &O,
           DiagnosticEngine &Diags);
llvm::Error emit(const EmitRequest &Request, const Options &O, OutputSet &Out);
/// Runs the script among the files.
std::string showCommand(const EmitRequest &Request, const Options &O,
                        llvm::StringRef File);

} // namespace foretrace::astra
