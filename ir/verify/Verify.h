// SPDX-License-Identifier: Apache-2.0
//
// The verifier, which runs between passes.
#pragma once

#include "ir/model/Program.h"
#include "lang/Diagnostic.h"

namespace foretrace::ir {

/// Reports every violation of the rules of docs/ir.md at the origin of the op
/// or block. Returns false if there is one. Parts that \p P does not have at
/// its level are not checked.
bool verify(const Program &P, DiagnosticEngine &Diags);

} // namespace foretrace::ir
