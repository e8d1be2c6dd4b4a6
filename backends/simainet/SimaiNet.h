// SPDX-License-Identifier: Apache-2.0
//
// The `simai-net` backend: the cluster of the job as a topology for SimAI's
// ns-3 simulator, and a script that runs either of SimAI's simulators on the
// table of `emit simai`. Private headers beside this one say how.
#pragma once

#include "backends/Backend.h"
#include "backends/simainet/Options.h"

namespace foretrace::simainet {

ir::FactSet needs(const Options &O);
/// Reports jobs and clusters that are not of servers around an NVSwitch.
bool check(const EmitRequest &Request, const Options &O,
           DiagnosticEngine &Diags);
llvm::Error emit(const EmitRequest &Request, const Options &O, OutputSet &Out);
/// Runs the script among the files.
std::string showCommand(const EmitRequest &Request, const Options &O,
                        llvm::StringRef File);

} // namespace foretrace::simainet
