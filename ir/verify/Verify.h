// SPDX-License-Identifier: Apache-2.0
//
// What must hold of every program between passes.
#ifndef FORETRACE_IR_VERIFY_VERIFY_H
#define FORETRACE_IR_VERIFY_VERIFY_H

#include "ir/model/Program.h"
#include "lang/Diagnostic.h"

namespace foretrace::ir {

/// Reports every violation of the rules of docs/ir.md at the place the op or
/// block comes from; false if there is one. What the level of \p P doesn't
/// have yet is not checked.
bool verify(const Program &P, DiagnosticEngine &Diags);

} // namespace foretrace::ir

#endif
