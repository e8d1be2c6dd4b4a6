// SPDX-License-Identifier: Apache-2.0
//
// Durations of nodes: Chakra has them in whole microseconds.
#pragma once

#include "lang/Quantity.h"

namespace foretrace::chakra {

/// Times one after the other as whole microseconds, such that the sum over a
/// rank stays exact.
class WholeMicros {
public:
  WholeMicros() = default;
  /// Begins after \p Before.
  explicit WholeMicros(Nanoseconds Before) : Clock(Before.value()) {}

  /// Returns the whole microseconds of the next \p Time.
  int64_t next(Nanoseconds Time) {
    const int64_t Before = (Clock + 500) / 1000;
    Clock += Time.value();
    return (Clock + 500) / 1000 - Before;
  }

private:
  int64_t Clock = 0; ///< sum of all times so far, in ns
};

} // namespace foretrace::chakra
