// SPDX-License-Identifier: Apache-2.0
//
// The part of `derive` that a program needs which no model was compiled to.
#pragma once

#include "ir/model/Program.h"
#include "lang/Diagnostic.h"

namespace foretrace {

/// Fills in what follows from the cluster of \p P, whose world is known, and
/// reports what does not fit. Does nothing without one.
bool deriveCluster(ir::Program &P, DiagnosticEngine &Diags);

} // namespace foretrace
