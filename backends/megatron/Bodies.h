// SPDX-License-Identifier: Apache-2.0
//
// Makes the rows of one stage from the ops of its chunks and of its step.
// Private to Skeleton.cpp.
#pragma once

#include "backends/megatron/Skeleton.h"

namespace foretrace::megatron {

/// \p P takes in what shapes follow from.
StageBodies makeBodies(ir::ExprScope P, const ir::Stage &S,
                       Instrumentation How);
/// The rows after the last micro-batch, in order; the same.
std::vector<RowBody> makeStepRows(ir::ExprScope P, const ir::Stage &S,
                                  Instrumentation How);

/// Adds what \p O moves to the row in which it happens.
void addTransfer(RowBody &To, const ir::Program &P, const ir::Op &O,
                 Instrumentation How);

/// Log text of scaling runs of v2.
llvm::StringRef simulation(Instrumentation How);

} // namespace foretrace::megatron
