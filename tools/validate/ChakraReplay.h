// SPDX-License-Identifier: Apache-2.0
//
// Replays a set of Chakra traces by the rules of ASTRA-sim:
//   * of the nodes of a rank that wait for nothing, the one with the lowest
//     id is issued first;
//   * a rank has one computation, one communication and one operation of its
//     CPU in flight; receives need no such slot;
//   * a send ends without its receive, and a broadcast alone.
#pragma once

#include "tools/validate/ChakraGraph.h"
#include "tools/validate/ChakraGroups.h"
#include "tools/validate/ChakraSet.h"
#include <memory>

namespace foretrace::validate {

/// Reports what keeps \p Ranks, all of \p Set, from their ends. Their graphs
/// have no circles, and their messages and collectives match.
void replayChakra(llvm::ArrayRef<std::unique_ptr<const ChakraGraph>> Ranks,
                  const ChakraSet &Set, const ChakraGroups &Groups,
                  Findings &Out);

} // namespace foretrace::validate
