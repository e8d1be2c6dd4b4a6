// SPDX-License-Identifier: Apache-2.0
//
// What a block exchanges with its neighbours.
#ifndef FORETRACE_IR_MODEL_SIGNATURE_H
#define FORETRACE_IR_MODEL_SIGNATURE_H

#include "ir/model/Ids.h"
#include "llvm/ADT/SmallVector.h"

namespace foretrace::ir {

/// The values of a block that its neighbours in the sequence of layers make or
/// use, also where the two are on other stages. What the data loader reads and
/// what `backward` finds kept is not among them.
struct Signature {
  using List = llvm::SmallVector<ValueId, 1>;
  List Inputs;  ///< activations that the block before makes
  List Outputs; ///< activations for the block after
  // Once the block is differentiated; each stands where its value does.
  List OutputGradients; ///< arrive in backward
  List InputGradients;  ///< leave in backward

  bool hasGradients() const {
    return !OutputGradients.empty() || !InputGradients.empty();
  }
  bool empty() const {
    return Inputs.empty() && Outputs.empty() && !hasGradients();
  }
};

} // namespace foretrace::ir

#endif
