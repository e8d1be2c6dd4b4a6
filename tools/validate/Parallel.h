// SPDX-License-Identifier: Apache-2.0
//
// Work on the files of a set by all processors, with results in order and only
// a few of them at a time.
#pragma once

#include "llvm/Support/ThreadPool.h"
#include <algorithm>
#include <vector>

namespace foretrace::validate {

/// Calls \p Make(I) for 0 <= I < \p Count, several at once, and \p Take with
/// each result in order of I.
template <typename Maker, typename Taker>
void forEachInOrder(size_t Count, Maker Make, Taker Take) {
  constexpr size_t AtOnce = 64;
  llvm::DefaultThreadPool Pool;
  using Result = decltype(Make(size_t(0)));
  for (size_t First = 0; First < Count; First += AtOnce) {
    std::vector<Result> Results(std::min(AtOnce, Count - First));
    for (size_t I = 0; I != Results.size(); ++I)
      Pool.async([&, I] { Results[I] = Make(First + I); });
    Pool.wait();
    for (size_t I = 0; I != Results.size(); ++I)
      Take(First + I, std::move(Results[I]));
  }
}

} // namespace foretrace::validate
