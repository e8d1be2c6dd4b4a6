// SPDX-License-Identifier: Apache-2.0
//
// The values that a block exchanges with its neighbours.
#ifndef FORETRACE_IR_MODEL_SIGNATURE_H
#define FORETRACE_IR_MODEL_SIGNATURE_H

#include "ir/model/Ids.h"
#include "llvm/ADT/SmallVector.h"

namespace foretrace::ir {

/// The values that a block exchanges with its neighbours in the sequence of
/// layers, which may be on other stages. Tensors from the data loader and saved
/// activations are not included.
struct Signature {
  using List = llvm::SmallVector<ValueId, 1>;
  List Inputs;  ///< activations from the previous block
  List Outputs; ///< activations for the next block
  // Once the block is differentiated; each stands where its value does.
  List OutputGradients; ///< arrive in the backward pass
  List InputGradients;  ///< leave in the backward pass

  bool hasGradients() const {
    return !OutputGradients.empty() || !InputGradients.empty();
  }
  bool empty() const {
    return Inputs.empty() && Outputs.empty() && !hasGradients();
  }
};

} // namespace foretrace::ir

#endif
