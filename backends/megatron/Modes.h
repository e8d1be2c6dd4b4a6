// SPDX-License-Identifier: Apache-2.0
//
// Modes of a job in which the instrumented Megatron-LM logs what nobody knows,
// stops, or was never seen.
#pragma once

#include "backends/megatron/Trace.h"
#include "lang/Diagnostic.h"

namespace foretrace::megatron {

/// Returns whether the rows of a trace of \p P and their order are known;
/// reports why not.
bool checkModes(const ir::Program &P, DiagnosticEngine &Diags);

/// Warns of modes that the instrumented Megatron-LM refuses to run or does not
/// have, and of others that no recorded trace shows.
void warnOfModes(const ir::Program &P, Instrumentation How,
                 DiagnosticEngine &Diags);

} // namespace foretrace::megatron
