// SPDX-License-Identifier: Apache-2.0
//
// Arithmetic of an op.
#ifndef FORETRACE_PASSES_WORK_H
#define FORETRACE_PASSES_WORK_H

#include "ir/Program.h"

namespace foretrace {

/// FLOPs of \p O on one rank, once; 0 for what is bound by memory.
Flops workOf(const ir::Block &B, const ir::Op &O, const ir::Mesh &M);

} // namespace foretrace

#endif
