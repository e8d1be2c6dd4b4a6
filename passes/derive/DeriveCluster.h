// SPDX-License-Identifier: Apache-2.0
//
// The part of `derive` that a program needs which no model was compiled to.
#pragma once

#include "ir/model/Program.h"
#include "lang/Diagnostic.h"

namespace foretrace {

/// Sets the keys that follow from the cluster of \p P, whose world is known,
/// and reports contradictions. Does nothing without a cluster.
bool deriveCluster(ir::Program &P, DiagnosticEngine &Diags);

} // namespace foretrace
