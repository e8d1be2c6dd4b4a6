// SPDX-License-Identifier: Apache-2.0
//
// The shapes that calls log, from the types and layouts of the IR's values.
// Private to this backend.
#pragma once

#include "backends/megatron/CallTable.h"
#include "ir/model/Measure.h"

namespace foretrace::megatron {

/// Returns the size of each dimension of a value on one rank. \p P receives the
/// expressions that these follow from.
Extents localExtents(ir::ExprScope P, const ir::TensorType &T,
                     const ir::Layout &L);

/// The tensor of a call within \p B that \p O makes, a collective or a compute
/// op; of a collective it is its operand.
LoggedTensor tensorOf(const CallText &Call, ir::ExprScope P, const ir::Block &B,
                      const ir::Op &O, Instrumentation How);
/// Shape of the part of \p Input that a rank reads.
LoggedTensor tensorOf(const BatchCall &Call, ir::ExprScope P,
                      const ir::Value &Input);

} // namespace foretrace::megatron
