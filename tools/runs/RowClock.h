// SPDX-License-Identifier: Apache-2.0
//
// Whether the times of a rank's rows can be: what it does, it does one after
// the other, and the calls of a row happen while it lasts.
#pragma once

#include "tools/runs/TraceReader.h"
#include <functional>
#include <string>

namespace foretrace::runs {

/// The rows of one trace, in order. A row that contradicts its neighbours is
/// reported once the next row shows which of them is wrong.
class RowClock {
public:
  /// Gets the line and the name of the odd row, and what is odd.
  using Reporter =
      std::function<void(int64_t Line, llvm::StringRef Op, std::string Text)>;
  explicit RowClock(Reporter Report) : Report(std::move(Report)) {}

  /// \p IsFused: it is part of the call that the row before it began, and has
  /// the time of that call.
  void take(const SeenRow &Row, int64_t Line, bool IsFused);
  /// After the last row.
  void finish();
  /// Returns whether \p Row began after all that were taken.
  bool isAfterAll(const SeenRow &Row) const;

  /// Clocks tell 0.01 ms, and the device's, which durations are of, is not the
  /// host's: in real traces a call begins up to 0.6 ms before its row.
  static constexpr double Slack = 1;

private:
  /// When a row happened, in ms.
  struct Span {
    double Begin = 0, End = 0;
    int64_t Line = 0; ///< 0 is none
    std::string Op = {};
  };
  static bool fits(const Span &Row, double End) {
    return Row.Begin >= End - Slack;
  }
  static std::optional<Span> spanOf(const SeenRow &Row, int64_t Line);
  void takeSpan(const Span &Row);
  void takeFused(const SeenRow &Row, const Span &At);
  /// Reports a call that lasts longer than its row.
  bool hasLongCall(const SeenRow &Row, int64_t Line);
  void takeCalls(const SeenRow &Row, const Span &At);
  /// \p Second begins before \p First ends.
  void reportSecond(const Span &First, const Span &Second);
  void reportFirst(const Span &First, const Span &Second);

  Reporter Report;
  double Before = 0; ///< the end of the row before Last
  Span Last;         ///< the last row that nothing is wrong with
  Span Doubtful;     ///< the next row: one of the two is wrong
  // The last row as written, even if it was reported.
  int64_t LastLine = 0;
  std::string LastDuration, LastTimestamp;
};

} // namespace foretrace::runs
