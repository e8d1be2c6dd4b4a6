// SPDX-License-Identifier: Apache-2.0
//
// How far a sweep is: on a terminal a line that changes, for programs lines of
// JSON, nothing in a pipe. On standard error.
#pragma once

#include "tools/sweep/Report.h"
#include <chrono>

namespace foretrace::sweep {

class ProgressPrinter {
public:
  /// Of a sweep of \p Points.
  ProgressPrinter(int64_t Points, bool IsJSON, bool IsQuiet);

  void show(const Summary &At);
  /// How many points are emitted.
  void showEmitted(size_t Done, size_t Of);
  /// Takes the line away.
  void clear();

private:
  using Clock = std::chrono::steady_clock;

  bool isDue(bool IsLast);

  const int64_t Points;
  const bool IsJSON, IsLine;
  const Clock::time_point Start = Clock::now();
  std::optional<int64_t> Before; ///< points that are not of this run
  Clock::time_point Shown;
};

} // namespace foretrace::sweep
