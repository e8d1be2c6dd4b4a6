// SPDX-License-Identifier: Apache-2.0
//
// Times of ops from measured times of whole blocks. Private to the passes.
#ifndef FORETRACE_PASSES_SPREADTIMES_H
#define FORETRACE_PASSES_SPREADTIMES_H

#include "ir/Program.h"
#include "lang/Diagnostic.h"

namespace foretrace {

/// Gives the compute ops of each pass through a block their share of the
/// block's measured time, by their work; where none has any, in equal parts.
/// The shares add up to the time exactly. Reports blocks without a time, and
/// times of nothing; false after an error.
bool spreadTimes(ir::Program &P, DiagnosticEngine &Diags);

} // namespace foretrace

#endif
