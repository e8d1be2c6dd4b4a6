// SPDX-License-Identifier: Apache-2.0
//
// Arithmetic and memory traffic of an op.
#ifndef FORETRACE_IR_WORK_H
#define FORETRACE_IR_WORK_H

#include "ir/Program.h"

namespace foretrace::ir {

/// FLOPs of \p O on one rank, once; 0 for what is bound by memory.
Flops workOf(const Block &B, const Op &O, const Mesh &M);

/// Bytes that \p O reads and writes at least, on one rank, once: its operands
/// and results, of a table the rows in use; nothing for views; the optimizer
/// also reads and writes its state.
Bytes touchedBytes(const Program &P, const Block &B, const Op &O);

} // namespace foretrace::ir

#endif
