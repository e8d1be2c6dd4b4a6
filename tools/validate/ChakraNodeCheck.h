// SPDX-License-Identifier: Apache-2.0
//
// What ASTRA-sim would not take, or take for something else, in one node.
#pragma once

#include "tools/validate/ChakraGraph.h"
#include "tools/validate/ChakraGroups.h"

namespace foretrace::validate {

/// Work that a node states, whatever reads it.
struct ChakraWork {
  uint64_t Flops = 0;
  uint64_t Ns = 0; ///< 0 without a duration
};

/// Reports the defects of \p Node of \p Rank, one of as many as \p Groups has,
/// at \p At. Returns the parts that other checks need.
ChakraOp checkNode(const ChakraNode &Node, uint32_t Rank,
                   const ChakraGroups &Groups, const Place &At, Findings &Out,
                   ChakraWork &Work);

} // namespace foretrace::validate
