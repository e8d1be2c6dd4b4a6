// SPDX-License-Identifier: Apache-2.0
//
// The files of a set of Chakra traces: `<prefix>.<rank>.et` and a JSON file of
// groups beside them.
#pragma once

#include "tools/validate/ChakraGroups.h"
#include "llvm/Support/Error.h"

namespace foretrace::validate {

/// More ranks than any set has.
constexpr uint32_t RankLimit = 1 << 24;

struct ChakraSet {
  std::string Prefix;          ///< with its folder
  std::vector<uint32_t> Ranks; ///< of which there is a file, in order
  std::string GroupPath;  ///< each empty if there is no such file
  std::string ClassPath;  ///< of ranks, if they share traces
  std::string SystemPath; ///< ASTRA-sim's system

  std::string pathOf(uint32_t Rank) const {
    return Prefix + "." + std::to_string(Rank) + ".et";
  }
};

/// The sets in the folder \p Path, or the one that the file \p Path is of, by
/// prefix. None if nothing is called like a trace.
llvm::Expected<std::vector<ChakraSet>> findChakraSets(llvm::StringRef Path);

/// Returns the number of ranks of \p Set. Reports those without a trace.
llvm::Expected<uint32_t> countRanks(const ChakraSet &Set, Findings &Out);

/// The groups of \p Set, which is of \p Ranks ranks.
llvm::Expected<ChakraGroups> readGroups(const ChakraSet &Set, uint32_t Ranks,
                                        Findings &Out);

/// Returns the number of parts into which the system of \p Set splits
/// collectives; 0 if it is unknown.
uint64_t readSplits(const ChakraSet &Set);

} // namespace foretrace::validate
