// SPDX-License-Identifier: Apache-2.0
//
// The values that a block exchanges with its neighbours.
#pragma once

#include "ir/model/Ids.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

namespace foretrace::ir {

/// The values that a block exchanges with its neighbours in the sequence of
/// layers, which may be on other stages. Tensors from the data loader and saved
/// activations are not included.
struct Signature {
  using List = llvm::SmallVector<ValueId, 1>;
  /// The hidden state from the previous block, and what layers before pass
  /// besides (BlockSpec::Receives).
  List Inputs;
  /// The hidden state for the next block, and what it passes
  /// (BlockSpec::Passes); a value that only passes through is an input, too.
  List Outputs;
  // Once the block is differentiated, in the order of their values; integers
  // and what is detached have none.
  List OutputGradients; ///< arrive in the backward pass
  List InputGradients;  ///< leave in the backward pass

  /// Returns the inputs, and the outputs, besides the hidden state; a branch
  /// passes the results of its depths.
  llvm::ArrayRef<ValueId> received() const {
    return llvm::ArrayRef(Inputs).slice(!Inputs.empty());
  }
  llvm::ArrayRef<ValueId> passed() const {
    return llvm::ArrayRef(Outputs).slice(!Outputs.empty());
  }
  bool hasGradients() const {
    return !OutputGradients.empty() || !InputGradients.empty();
  }
  bool empty() const {
    return Inputs.empty() && Outputs.empty() && !hasGradients();
  }
};

} // namespace foretrace::ir
