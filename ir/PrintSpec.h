// SPDX-License-Identifier: Apache-2.0
//
// The spec as part of a program's text form.
#ifndef FORETRACE_IR_PRINTSPEC_H
#define FORETRACE_IR_PRINTSPEC_H

#include "ir/Spec.h"
#include "llvm/Support/raw_ostream.h"

namespace foretrace::ir {

/// Prints every present field by the table ir/Spec.def. A derived value is
/// written `key := value`, a default `key ?= value`.
void printSpec(const Spec &S, llvm::raw_ostream &OS);

} // namespace foretrace::ir

#endif
