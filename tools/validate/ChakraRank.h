// SPDX-License-Identifier: Apache-2.0
//
// One rank of a set of Chakra traces: its graph, and what is left of it once
// the graph is gone.
#pragma once

#include "tools/validate/ChakraGraph.h"
#include "tools/validate/ChakraGroups.h"
#include "tools/validate/Messages.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <array>
#include <memory>

namespace foretrace::validate {

/// Nodes, bytes and time of a rank, or of a set. Sums stick at 2^64 - 1.
struct ChakraTotals {
  static constexpr size_t NodeTypes = 0
#define NODE_TYPE(ENUMERATOR, WORD) +1
#include "backends/chakra/ChakraSchema.def"
      ;
  struct Sum {
    uint64_t Count = 0, Bytes = 0;
  };

  std::array<uint64_t, NodeTypes> Nodes{};
  /// By group, as an index, and kind.
  std::map<std::pair<uint32_t, CommType>, Sum> Collectives;
  Sum Messages; ///< that are sent
  uint64_t ComputeNs = 0, Flops = 0;
  /// Along dependences, where communication takes no time.
  uint64_t CriticalNs = 0;
};

/// The collectives of one member in a group, in the order it issues them.
struct GroupSequence {
  uint64_t Hash = 0;
  uint64_t Count = 0;
};

/// Contents of a rank's file.
struct ChakraRank {
  std::string Failure; ///< why it could not be read; mostly empty
  Findings Found;
  /// Whether all of its communication is known, so that it can be compared with
  /// that of others.
  bool IsSound = true;
  ChakraGraph Graph;
  ChakraTotals Totals;
};

/// Reads the file \p Path of \p Rank and looks at each node, and at the graph.
std::unique_ptr<ChakraRank> readRank(llvm::StringRef Path, uint32_t Rank,
                                     const ChakraGroups &Groups);

/// The sequence of collectives in each group that \p Graph has any in.
std::map<uint32_t, GroupSequence> sequencesOf(const ChakraGraph &Graph);
/// The collectives in group \p Group, in the order that \p Graph issues them.
std::vector<const ChakraOp *> collectivesOf(const ChakraGraph &Graph,
                                            uint32_t Group);
/// Reports collectives of a group that only time orders.
void checkOrder(const ChakraGraph &Graph, const ChakraGroups &Groups,
                llvm::StringRef Path, Findings &Out);

/// Calls \p Send and \p Receive with the messages of \p Rank.
void forEachMessage(
    const ChakraGraph &Graph, uint32_t Rank,
    llvm::function_ref<void(const Message &, const ChakraOp &)> Send,
    llvm::function_ref<void(const Message &, const ChakraOp &)> Receive);

} // namespace foretrace::validate
