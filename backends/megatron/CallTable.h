// SPDX-License-Identifier: Apache-2.0
//
// What SubOperations.def says of an op of the IR. Private to this backend.
#pragma once

#include "backends/megatron/Trace.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace foretrace::megatron {

/// How a collective is logged.
enum class Fate : unsigned char {
  Logged,  ///< as a call
  Silent,  ///< not at all
  Unknown, ///< perhaps: no known code logs it
};

/// How a call's shape follows from the values of its op.
enum class CallShape : unsigned char {
#define CALL_SHAPE(ENUMERATOR, ...) ENUMERATOR,
#include "backends/megatron/CallShapes.def"
};

/// Element type of a call.
enum class CallType : unsigned char { Param, FP32, I64, Bool };

/// Fields of a call in a trace.
struct CallText {
  llvm::StringLiteral Function, Name; ///< trace_src_func, func_name
  GroupKind Group;
  ir::OpKind Comm;
  CallShape Shape;
  CallType Type;
};

/// How a collective is logged.
struct CollectiveRule {
  megatron::Fate Fate;
  CallText Call;           ///< if it is logged
  llvm::StringLiteral Why; ///< why it is not logged
};

/// The row of a collective of a micro-batch that moves no parameters; null if
/// there is none.
const CollectiveRule *findRule(const ir::Program &P, const ir::Block &B,
                               const ir::Op &Collective, Instrumentation How);
/// Like findRule, for a collective of a stage's step.
const CollectiveRule *findStepRule(const ir::Block &Step,
                                   const ir::Op &Collective);
/// Visits the calls without a collective of the program that are made at the
/// compute op \p O.
void forEachAddedCall(const ir::Program &P, const ir::Block &B, const ir::Op &O,
                      Instrumentation How,
                      llvm::function_ref<void(const CallText &)> Visit);

/// The blocks of a stage that a call of get_batch is for.
enum class BatchBlock : unsigned char { Embedding, Head, Either };
/// A call of get_batch.
struct BatchCall {
  llvm::StringLiteral Name; ///< func_name, and the input of the block
  BatchBlock Of;
  CallShape Shape;
  ir::ElementType Element;
};
/// All of them, in order.
llvm::ArrayRef<BatchCall> batchCalls();

/// Returns whether \p O gathers parameters or reduces their gradients, over
/// ranks that hold the same parameters.
bool movesParameters(const ir::Op &O, const ir::Block &B);
/// The routed experts of \p B, or null.
const ir::BlockSpec *expertsOf(const ir::Program &P, const ir::Block &B);

} // namespace foretrace::megatron
