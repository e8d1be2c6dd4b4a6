// SPDX-License-Identifier: Apache-2.0
//
// What ASTRA-sim would not take, or take for something else, in a set of Chakra
// traces. One rank's graph is in memory at a time and processor; of the others
// there are sums, until the replay, which wants them all.
#pragma once

#include "tools/validate/ChakraRank.h"
#include "tools/validate/ChakraSet.h"

namespace foretrace::validate {

/// Contents of a set.
struct ChakraReport {
  size_t Ranks = 0, Traces = 0; ///< a trace may represent several ranks
  ChakraTotals Totals;    ///< of all ranks; times are those of the slowest
  uint64_t MostFlops = 0; ///< of a rank
  /// Ranks of each group, by its index.
  std::vector<uint32_t> GroupSizes;

  uint64_t nodes() const;
};

/// Reports the defects of \p Set. An error if a file can't be read.
llvm::Expected<ChakraReport> checkChakra(const ChakraSet &Set, Findings &Out);

/// `8 ranks, 10640 nodes (8208 COMP, ...), 12 groups, 1.25 GiB`.
std::string summarize(const ChakraReport &R, bool IsExact);
/// Nodes by type, bytes by size of group and kind, times.
void printSummary(const ChakraReport &R, bool IsExact, llvm::raw_ostream &OS);
/// Writes the summary and the number of errors of the set \p Name, one per row.
void writeSummary(llvm::StringRef Name, const ChakraReport &R,
                  const Findings &Found, RowWriter &To);
std::vector<RowColumn> summaryColumns();

} // namespace foretrace::validate
