// SPDX-License-Identifier: Apache-2.0
//
// Passes between `derive` and Fact::Totals decide by what `derive` declared,
// and see numbers as expressions. Jobs that decide alike share what they make.
#pragma once

#include "passes/PassManager.h"
#include "llvm/ADT/StringMap.h"

namespace foretrace {

/// The results of these passes for each structure that occurred twice; a single
/// job does not pay for a copy.
class StructureCache {
public:
  /// The passes, `derive` not among them.
  static std::vector<const PassInfo *> passes();

  /// Brings \p P, which is derived, to Fact::Totals: with the help of \p Run,
  /// which runs the passes on it, if two jobs of its structure did not come
  /// before.
  /// Returns what \p Run does.
  bool complete(ir::Program &P, llvm::function_ref<bool(ir::Program &)> Run);

private:
  /// By all that decides (see `keyOf` in the source).
  llvm::StringMap<std::optional<ir::Program>> Known;
};

} // namespace foretrace
