// SPDX-License-Identifier: Apache-2.0
//
// The files of a set of Chakra traces: `<prefix>.<rank>.et` and a JSON file of
// groups beside them.
#ifndef FORETRACE_TOOLS_VALIDATE_CHAKRASET_H
#define FORETRACE_TOOLS_VALIDATE_CHAKRASET_H

#include "tools/validate/ChakraGroups.h"
#include "llvm/Support/Error.h"

namespace foretrace::validate {

struct ChakraSet {
  std::string Prefix;          ///< with its folder
  std::vector<uint32_t> Ranks; ///< of which there is a file, in order
  std::string GroupPath;       ///< empty if there is no such file

  std::string pathOf(uint32_t Rank) const {
    return Prefix + "." + std::to_string(Rank) + ".et";
  }
  /// Whether ranks count from 0 without a gap.
  bool isComplete() const { return Ranks.back() + 1 == Ranks.size(); }
};

/// The sets in the folder \p Path, or the one that the file \p Path is of, by
/// prefix. None if nothing is called like a trace.
llvm::Expected<std::vector<ChakraSet>> findChakraSets(llvm::StringRef Path);

/// Reports ranks without a file.
void checkFiles(const ChakraSet &Set, Findings &Out);

/// The groups of \p Set, which is complete.
llvm::Expected<ChakraGroups> readGroups(const ChakraSet &Set, Findings &Out);

} // namespace foretrace::validate

#endif
