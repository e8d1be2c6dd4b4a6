// SPDX-License-Identifier: Apache-2.0
//
// What crosses the cuts between the parts of a model.
#ifndef FORETRACE_IR_MODEL_BOUNDARY_H
#define FORETRACE_IR_MODEL_BOUNDARY_H

#include "ir/model/Measure.h"

namespace foretrace::ir {

/// What part \p Part of the model, of the schedule's numbers, hands to the next
/// one for a micro-batch: the outputs of the block that ends it. The gradients
/// that come back have the same types and layouts (verified).
std::vector<const Value *> boundaryAfter(const Program &P, int64_t Part);

/// The same in bytes of one rank; none after the last part.
Bytes boundaryBytes(const Program &P, int64_t Part);
/// The same as an expression of \p P.
Expr boundarySize(ExprScope P, int64_t Part);

} // namespace foretrace::ir

#endif
