// SPDX-License-Identifier: Apache-2.0
#include "analysis/InFlight.h"
#include "ir/schedule/ScheduleWalker.h"
#include "llvm/ADT/STLExtras.h"

using namespace foretrace;
using namespace foretrace::ir;

/// Returns how much an action changes the number in flight.
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

namespace {

/// Follows what is in flight, step by step.
class Follower {
public:
  explicit Follower(llvm::ArrayRef<unsigned> KindOf)
      : KindOf(KindOf),
        Now(KindOf.empty()
                ? 0
                : *std::max_element(KindOf.begin(), KindOf.end()) + 1),
        Before(Now) {}

  void beginPeriod() {
    Before = Now;
    Period.clear();
  }
  void step(const Action &A, int64_t Change);
  void repeat(int64_t Times);

  std::vector<InFlight> Heaviest;

private:
  using Counts = llvm::SmallVector<int64_t, 4>;
  void add(InFlight Step);

  llvm::ArrayRef<unsigned> KindOf;
  Counts Now, Before;           ///< by kind; at the start of the period
  std::vector<InFlight> Period; ///< steps of the period that is walked
};

} // namespace

/// Keeps \p Step unless a step of the same chunk and direction has as much.
void Follower::add(InFlight Step) {
  auto IsLike = [&](const InFlight &Other) {
    return KindOf[static_cast<size_t>(Other.At.Chunk)] ==
               KindOf[static_cast<size_t>(Step.At.Chunk)] &&
           (Other.At.Kind == ActionKind::Forward) ==
               (Step.At.Kind == ActionKind::Forward);
  };
  auto HasAll = [](const InFlight &A, const InFlight &B) {
    return llvm::all_of(llvm::zip_equal(A.OfKind, B.OfKind),
                        [](const auto &Pair) {
                          return std::get<0>(Pair) >= std::get<1>(Pair);
                        });
  };
  if (llvm::any_of(Heaviest, [&](const InFlight &Other) {
        return IsLike(Other) && HasAll(Other, Step);
      }))
    return;
  llvm::erase_if(Heaviest, [&](const InFlight &Other) {
    return IsLike(Other) && HasAll(Step, Other);
  });
  Heaviest.push_back(std::move(Step));
}

/// Adds a step; a forward step needs memory before it, others free it after.
void Follower::step(const Action &A, int64_t Change) {
  const unsigned Kind = KindOf[static_cast<size_t>(A.Chunk)];
  if (A.Kind == ActionKind::Forward)
    Now[Kind] += Change;
  Period.push_back({A, Now});
  add(Period.back());
  if (A.Kind != ActionKind::Forward)
    Now[Kind] += Change;
}

/// Repeats the whole period. Between its first and its last time counts change
/// evenly, so that one of these two has the most.
void Follower::repeat(int64_t Times) {
  bool Grows = false;
  Counts Growth;
  for (const auto &[After, First] : llvm::zip_equal(Now, Before)) {
    Growth.push_back((After - First) * Times);
    Grows |= Growth.back() > 0;
  }
  auto Shift = [&](Counts &Of) {
    for (const auto &[Count, By] : llvm::zip_equal(Of, Growth))
      Count += By;
  };
  if (Grows)
    for (InFlight &Step : Period) {
      Shift(Step.OfKind);
      add(Step);
    }
  Shift(Now);
}

std::vector<InFlight> foretrace::heaviestSteps(const Schedule &S, int64_t Stage,
                                               llvm::ArrayRef<unsigned> KindOf,
                                               Release At) {
  ScheduleWalker Walker(S, Stage, Visited::Steps);
  Follower Held(KindOf);
  std::optional<std::pair<size_t, int64_t>> Place;
  while (std::optional<Action> A = Walker.next()) {
    if (Walker.place() != Place) {
      Place = Walker.place();
      Held.beginPeriod();
    }
    if (isCompute(A->Kind))
      Held.step(*A, change(A->Kind, At));
    if (const int64_t Times = Walker.skipRepetitions())
      Held.repeat(Times);
  }
  return std::move(Held.Heaviest);
}

int64_t foretrace::peakInFlight(const Schedule &S, int64_t Stage, Release At) {
  const std::vector<unsigned> OneKind(static_cast<size_t>(S.Chunks));
  int64_t Most = 0;
  for (const InFlight &Step : heaviestSteps(S, Stage, OneKind, At))
    Most = std::max(Most, Step.count());
  return Most;
}
