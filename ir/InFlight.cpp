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

InFlight foretrace::ir::mostInFlight(const Schedule &S, int64_t Stage,
                                     Release At) {
  ScheduleWalker Walker(S, Stage);
  InFlight Now, Peak;
  Now.OfChunk.assign(static_cast<size_t>(S.Chunks), 0);
  Peak = Now;
  InFlight Before = Now, Highest = Now; // of the period that is walked
  std::pair<size_t, int64_t> Place = {SIZE_MAX, 0};
  auto Raise = [](InFlight &To, const InFlight &From) {
    if (From.Count > To.Count)
      To = From;
  };
  // What `From` becomes if all of a period repeats.
  auto Grown = [&](InFlight From, int64_t Times) {
    From.Count += (Now.Count - Before.Count) * Times;
    for (size_t C = 0; C < From.OfChunk.size(); ++C)
      From.OfChunk[C] += (Now.OfChunk[C] - Before.OfChunk[C]) * Times;
    return From;
  };
  while (std::optional<Action> A = Walker.next()) {
    if (Walker.place() != Place) {
      Place = Walker.place();
      Before = Highest = Now;
    }
    if (const int64_t By = change(A->Kind, At)) {
      Now.Count += By;
      Now.OfChunk[static_cast<size_t>(A->Chunk)] += By;
    }
    Raise(Highest, Now);
    Raise(Peak, Now);
    if (const int64_t Times = Walker.skipRepetitions()) {
      Raise(Peak, Grown(Highest, Times));
      Now = Grown(Now, Times);
    }
  }
  return Peak;
}
