// SPDX-License-Identifier: Apache-2.0
//
// Adapters of low rank that a device that serves holds beside the weights.
#pragma once

#include "ir/model/Measure.h"
#include <vector>

namespace foretrace {

/// Returns the bytes of all adapters on a rank of \p S, of a job that has any.
/// Each linear layer that is a target has two matrices, from its input to the
/// rank and from there to its output. A rank has its part of the input or
/// output, and all of the other (vLLM, lora/layers/base_linear.py,
/// create_lora_weights, without fully_sharded_loras); layers that are one
/// product here have an input each (column_parallel_linear.py,
/// MergedQKVParallelLinearWithLoRA).
ir::Expr adaptersOf(ir::ExprScope P, const ir::Stage &S);

/// Returns the targets of the job that no layer has.
std::vector<llvm::StringRef> targetsWithoutLayer(const ir::Program &P);

} // namespace foretrace
