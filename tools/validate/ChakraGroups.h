// SPDX-License-Identifier: Apache-2.0
//
// The communicator groups of a set of Chakra traces: a JSON object of lists of
// ranks beside them, by names that are numbers.
#pragma once

#include "tools/validate/Findings.h"
#include "llvm/ADT/ArrayRef.h"
#include <optional>

namespace foretrace::validate {

/// A group of ranks.
struct RankGroup {
  uint32_t Id = 0;               ///< `pg_name` as a number; 0: all ranks
  std::vector<uint32_t> Members; ///< in order of rank

  bool has(uint32_t Rank) const;
};

/// Group 0 is all ranks; the others are those of the file, in order of number.
class ChakraGroups {
public:
  /// All ranks of a set of \p Ranks ranks, and no file of groups.
  explicit ChakraGroups(uint32_t Ranks);

  /// Reads the groups of \p Text, the file \p Path, and reports what is wrong
  /// with it.
  void read(llvm::StringRef Text, llvm::StringRef Path, Findings &Out);
  /// Returns whether \p Text is a JSON object of lists of integers.
  static bool looksLike(llvm::StringRef Text);

  /// The file that was read; empty if there is none.
  llvm::StringRef path() const { return Path; }
  llvm::ArrayRef<RankGroup> all() const { return Groups; }
  /// Returns the index of the group with the number \p Id.
  std::optional<uint32_t> find(uint32_t Id) const;
  /// `group 3`, `all ranks`.
  std::string describe(uint32_t Index) const;

private:
  std::string Path;
  std::vector<RankGroup> Groups;
};

} // namespace foretrace::validate
