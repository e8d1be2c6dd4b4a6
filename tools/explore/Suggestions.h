// SPDX-License-Identifier: Apache-2.0
//
// Changes of a job that a page offers as buttons.
#ifndef FORETRACE_TOOLS_EXPLORE_SUGGESTIONS_H
#define FORETRACE_TOOLS_EXPLORE_SUGGESTIONS_H

#include "tools/compiler/CompiledJob.h"
#include <optional>
#include <string>
#include <vector>

namespace foretrace::explore {

struct Suggestion {
  std::vector<std::string> Changes; ///< `parallel.zero=1`, as after -D
  int64_t Peak;                     ///< bytes of the rank that needs most
  std::optional<int64_t> Time;      ///< nanoseconds of an iteration
  bool Fits = true;                 ///< as far as the memory is known
};

struct Suggestions {
  std::string WhyNone;         ///< set if there is none
  std::vector<Suggestion> All; ///< from the one that costs least
};

/// Returns the smallest changes, single or in pairs, with which every rank has
/// enough memory.
Suggestions suggestFitting(CompiledJob &Job);
/// Returns changes, single and in pairs, with which an iteration is shorter;
/// those with which the job does not fit come last.
Suggestions suggestFaster(CompiledJob &Job);

} // namespace foretrace::explore

#endif
