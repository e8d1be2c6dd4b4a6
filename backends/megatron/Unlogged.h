// SPDX-License-Identifier: Apache-2.0
//
// What a job does and its traces don't say, or nobody knows whether they do.
#pragma once

#include "backends/megatron/Trace.h"
#include "lang/Diagnostic.h"

namespace foretrace::megatron {

/// Reports, as warnings, modes that the instrumented Megatron-LM does not run
/// or no trace shows, collectives of which no code says whether they are
/// logged, and collectives that it does not have; as an error what it logs in a
/// way that is not known. \p P has schedule and sync. Whether there was no
/// error.
bool checkCalls(const ir::Program &P, Instrumentation How,
                DiagnosticEngine &Diags);

} // namespace foretrace::megatron
