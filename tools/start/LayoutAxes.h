// SPDX-License-Identifier: Apache-2.0
//
// The keys that a search for a layout varies, and their values.
#pragma once

#include "ir/model/Spec.h"
#include <string>
#include <vector>

namespace foretrace::start {

struct LayoutAxes {
  /// A key whose values a sweep evaluates in columns.
  struct Number {
    std::string Key; ///< `parallel.tp`
    std::vector<int64_t> Values;
    /// Indices of those that are tried first; then their neighbors are.
    std::vector<size_t> First;
  };
  /// Keys that are set together, `train.recompute=full`.
  struct Option {
    std::vector<std::string> Overrides;
    /// Whether it is only tried in the neighborhood of good layouts.
    bool IsForRefinement = false;
    /// Whether training has other results with it.
    bool IsLossy = false;

    /// Returns whether it sets \p Key.
    bool sets(llvm::StringRef Key) const;
  };
  std::vector<Number> Numbers;
  /// Of each choice one option applies.
  std::vector<std::vector<Option>> Choices;
};

/// Returns the axes of a job: what Megatron-LM and its users vary, without the
/// keys that \p S states.
LayoutAxes axesOf(const ir::Spec &S);

/// Returns the axes around the layout that the job \p S, with what follows, has
/// already: of each choice the first option and of each number the only value
/// that is tried first are the job's. With \p OfMemory also what only saves
/// memory.
LayoutAxes axesAround(const ir::Spec &S, bool OfMemory);

} // namespace foretrace::start
