// SPDX-License-Identifier: Apache-2.0
//
// Data that crosses the cuts between parts of the model.
#ifndef FORETRACE_IR_MODEL_BOUNDARY_H
#define FORETRACE_IR_MODEL_BOUNDARY_H

#include "ir/model/Measure.h"

namespace foretrace::ir {

/// Returns the values of a micro-batch that part \p Part of the model, in the
/// numbering of the schedule, sends to the next one: the outputs of its last
/// block. The gradients that come back have the same types and layouts
/// (verified).
std::vector<const Value *> boundaryAfter(const Program &P, int64_t Part);

/// Returns their bytes on one rank; 0 after the last part.
Bytes boundaryBytes(const Program &P, int64_t Part);
/// Returns the bytes as an expression of \p P.
Expr boundarySize(ExprScope P, int64_t Part);

} // namespace foretrace::ir

#endif
