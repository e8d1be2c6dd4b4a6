// SPDX-License-Identifier: Apache-2.0
//
// Makes the rows of one stage from the ops of its chunks and of its step.
// Private to Skeleton.cpp.
#ifndef FORETRACE_BACKENDS_MEGATRON_BODIES_H
#define FORETRACE_BACKENDS_MEGATRON_BODIES_H

#include "backends/megatron/Skeleton.h"

namespace foretrace::megatron {

StageBodies makeBodies(const ir::Program &P, const ir::Stage &S,
                       Instrumentation How);
/// The rows after the last micro-batch, in order.
std::vector<RowBody> makeStepRows(const ir::Program &P, const ir::Stage &S,
                                  Instrumentation How);

/// Whether \p O gathers parameters or reduces their gradients, over ranks that
/// hold the same ones.
bool movesParameters(const ir::Op &O, const ir::Block &B);
/// Adds what \p O moves to the row in which it happens.
void addTransfer(RowBody &To, const ir::Program &P, const ir::Block &B,
                 const ir::Op &O, Instrumentation How);

/// Shapes and element types as Python prints them.
std::string printShape(std::initializer_list<int64_t> Sizes);
std::string torchType(ir::ElementType T);
/// What scaling runs of v2 say of themselves.
std::string simulation(Instrumentation How);

} // namespace foretrace::megatron

#endif
