// SPDX-License-Identifier: Apache-2.0
//
// Runs the graphs of all ranks against each other by the rules of ASTRA-sim, to
// see whether they end:
//   * of the nodes of a rank that wait for nothing, the one with the lowest
//     id is issued first;
//   * a rank has one computation, one communication and one operation of its
//     CPU in flight; receives need no such slot;
//   * a collective begins when its last member has issued it, the n-th of a
//     group on one rank with the n-th on another;
//   * a send ends without its receive.
#ifndef FORETRACE_TOOLS_VALIDATE_REPLAY_H
#define FORETRACE_TOOLS_VALIDATE_REPLAY_H

#include "tools/validate/ChakraGraph.h"
#include "tools/validate/ChakraGroups.h"
#include <memory>

namespace foretrace::validate {

/// How a replay ended.
struct ReplayResult {
  uint64_t Nodes = 0, Undone = 0;
  /// With a nominal 1 us and 50 GB/s for whatever is communicated.
  /// Who waits for whom; empty if all is done.
  std::string Why;
  /// The place of the first that waits.
  uint32_t Rank = 0;
  uint64_t Node = 0;
};

/// Replays \p Ranks, all of a set, whose graphs have no circles and whose
/// messages and collectives match.
ReplayResult replay(llvm::ArrayRef<std::unique_ptr<const ChakraGraph>> Ranks,
                    const ChakraGroups &Groups);

} // namespace foretrace::validate

#endif
