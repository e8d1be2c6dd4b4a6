// SPDX-License-Identifier: Apache-2.0
//
// The `optimus` backend: the partition plan of Optimus-Prime, ETRI's pipeline
// runtime, which cuts a traced model between calls of leaf modules.
#pragma once

#include "backends/Backend.h"
#include "backends/optimus/Options.h"

namespace foretrace::optimus {

ir::FactSet needs(const Options &O);
/// Reports models that are of no family, and more stages than can be cut.
bool check(const EmitRequest &Request, const Options &O,
           DiagnosticEngine &Diags);
llvm::Error emit(const EmitRequest &Request, const Options &O, OutputSet &Out);

} // namespace foretrace::optimus
