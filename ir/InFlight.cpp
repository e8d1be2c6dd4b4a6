// SPDX-License-Identifier: Apache-2.0
#include "ir/InFlight.h"
#include "ir/ScheduleWalker.h"
#include <algorithm>

using namespace foretrace;
using namespace foretrace::ir;

/// By how much an action changes what is in flight.
static int64_t change(ActionKind K, Release At) {
  switch (K) {
  case ActionKind::Forward:
    return 1;
  case ActionKind::Backward:
    return -1;
  case ActionKind::BackwardInput:
    return At == Release::InputGradients ? -1 : 0;
  case ActionKind::BackwardWeight:
    return At == Release::WeightGradients ? -1 : 0;
  default:
    return 0;
  }
}

int64_t foretrace::ir::peakInFlight(const Schedule &S, int64_t Stage,
                                    Release At) {
  ScheduleWalker Walker(S, Stage);
  int64_t Now = 0, Peak = 0;
  int64_t Before = 0, Highest = 0; // of the period that is walked
  std::pair<size_t, int64_t> Place = {SIZE_MAX, 0};
  while (std::optional<Action> A = Walker.next()) {
    if (Walker.place() != Place) {
      Place = Walker.place();
      Before = Highest = Now;
    }
    Now += change(A->Kind, At);
    Highest = std::max(Highest, Now);
    Peak = std::max(Peak, Now);
    if (const int64_t Times = Walker.skipRepetitions()) {
      const int64_t Growth = Now - Before;
      Peak = std::max(Peak, Highest + Growth * Times);
      Now += Growth * Times;
    }
  }
  return Peak;
}
