// SPDX-License-Identifier: Apache-2.0
//
// What a job does and its traces don't say, or nobody knows whether they do.
#pragma once

#include "backends/megatron/Trace.h"
#include "lang/Diagnostic.h"

namespace foretrace::megatron {

/// Warns of modes that the instrumented Megatron-LM does not run or no trace
/// shows, of collectives that may or may not be logged, and of collectives that
/// it lacks; reports an error for calls logged in an unknown form. \p P has
/// schedule and sync. Returns whether there was no error.
bool checkCalls(const ir::Program &P, Instrumentation How,
                DiagnosticEngine &Diags);

} // namespace foretrace::megatron
