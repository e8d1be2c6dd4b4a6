// SPDX-License-Identifier: Apache-2.0
//
// The critical path of an iteration (`cost estimate`): the steps, messages and
// the update that its time is the sum of, and the lines that they come from.
#pragma once

#include "analysis/IterationTime.h"

namespace foretrace {

/// The time of the ops of one line of the job that belong to a part.
struct LineTime {
  SourceRange Where; ///< invalid if no line is known
  std::string Part;  ///< the name of a TimePart
  Nanoseconds Time;
};

/// A step or a message, and all that are like it.
struct PathStep {
  int64_t Stage; ///< of the first one
  ir::Action Action;
  int64_t Count;
  Nanoseconds Time; ///< of each
};

struct CriticalPath {
  /// Whether it was found. If the schedule has too many steps to keep, this is
  /// the work of a rank of the busiest stage instead, without idle time.
  bool IsExact = false;
  std::vector<PathStep> Steps;     ///< by first stage; none if not exact
  int64_t Last = 0;                ///< the stage whose update ends the path
  std::vector<LineTime> Lines;     ///< the longest first
  std::vector<Nanoseconds> Stages; ///< by index into IterationTime::Stages
};

/// Returns the critical path of \p P, whose estimate is \p T. Its times sum to
/// the iteration if it is exact.
CriticalPath criticalPath(const ir::Program &P, const IterationTime &T);

} // namespace foretrace
