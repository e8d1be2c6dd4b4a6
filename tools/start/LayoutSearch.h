// SPDX-License-Identifier: Apache-2.0
//
// Finds the layout of a job that has none yet, by a sweep over a few keys.
#ifndef FORETRACE_TOOLS_START_LAYOUTSEARCH_H
#define FORETRACE_TOOLS_START_LAYOUTSEARCH_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"
#include <optional>
#include <string>
#include <vector>

namespace foretrace::start {

/// What is swept.
struct LayoutSpace {
  std::string Path; ///< of the job; its imports are relative to it
  std::string Text; ///< of the job, without keys of the axes
  /// `parallel.tp=1,2,4`, the last of which changes first.
  std::vector<std::string> Axes;
};

/// The best point of a sweep, and how many there were.
struct FoundLayout {
  /// The values of axes, `{"parallel.tp", "4"}`.
  std::vector<std::pair<std::string, std::string>> Keys;
  int64_t Peak = 0;                ///< bytes of the fullest rank
  std::optional<int64_t> Time;     ///< ns an iteration, if that was read
  int64_t Accepted = 0, Legal = 0; ///< of all points

  /// The value of a key, empty if it is no axis.
  llvm::StringRef find(llvm::StringRef Key) const;
};

/// Returns the point with the least \p Metric of those that satisfy \p Where,
/// or nothing if there is none. An error says why no point is legal.
llvm::Expected<std::optional<FoundLayout>> findLayout(const LayoutSpace &Space,
                                                      llvm::StringRef Where,
                                                      llvm::StringRef Metric);

} // namespace foretrace::start

#endif
