// SPDX-License-Identifier: Apache-2.0
//
// The `aicb` backend: the CSV workloads that the public generator writes, byte
// for byte. Like `accounting = aicb` of the `simai` backend it imitates a tool:
// it reads the spec, and its formulas are that tool's and concern nobody else.
// docs/aicb.md says what they get wrong.
#pragma once

#include "backends/Backend.h"
#include "backends/aicb/Options.h"

namespace foretrace::aicb {

ir::FactSet needs(const Options &O);
bool check(const EmitRequest &Request, const Options &O,
           DiagnosticEngine &Diags);
llvm::Error emit(const EmitRequest &Request, const Options &O, OutputSet &Out);

} // namespace foretrace::aicb
