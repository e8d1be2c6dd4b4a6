// SPDX-License-Identifier: Apache-2.0
#include "ir/InFlight.h"
#include "ir/ScheduleWalker.h"
#include <optional>

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

namespace {

/// Holds what is on its way, step by step.
class Holder {
public:
  explicit Holder(llvm::ArrayRef<ChunkLoad> Chunks) : Chunks(Chunks) {
    Now.Kept.OfChunk.assign(Chunks.size(), 0);
    Peak = Before = Highest = Now;
  }

  void beginPeriod() { Before = Highest = Now; }
  void step(const Action &A, int64_t Change);
  void repeat(int64_t Times);
  HeaviestStep takePeak() { return std::move(Peak); }

private:
  HeaviestStep grown(HeaviestStep From, int64_t Times) const;

  llvm::ArrayRef<ChunkLoad> Chunks;
  HeaviestStep Now, Peak;
  HeaviestStep Before, Highest; ///< of the period that is walked
};

} // namespace

/// What is kept for a step is there before a backward one, and after a forward
/// one.
void Holder::step(const Action &A, int64_t Change) {
  const auto Chunk = static_cast<size_t>(A.Chunk);
  const ChunkLoad &Of = Chunks[Chunk];
  const bool IsForward = A.Kind == ActionKind::Forward;
  auto Count = [&] {
    Now.Kept.Count += Change;
    Now.Kept.OfChunk[Chunk] += Change;
    Now.Load += static_cast<__int128>(Change) * Of.Kept;
  };
  if (IsForward)
    Count();
  const __int128 Load = Now.Load + (IsForward ? Of.Forward : Of.Backward);
  for (HeaviestStep *To : {&Highest, &Peak})
    if (Load > To->Load)
      *To = {Now.Kept, A, Load};
  if (!IsForward)
    Count();
}

/// What \p From becomes if all of a period repeats.
HeaviestStep Holder::grown(HeaviestStep From, int64_t Times) const {
  From.Kept.Count += (Now.Kept.Count - Before.Kept.Count) * Times;
  for (size_t C = 0; C < Chunks.size(); ++C)
    From.Kept.OfChunk[C] +=
        (Now.Kept.OfChunk[C] - Before.Kept.OfChunk[C]) * Times;
  From.Load += (Now.Load - Before.Load) * Times;
  return From;
}

void Holder::repeat(int64_t Times) {
  if (HeaviestStep Last = grown(Highest, Times); Last.Load > Peak.Load)
    Peak = std::move(Last);
  Now = grown(Now, Times);
}

HeaviestStep foretrace::ir::heaviestStep(const Schedule &S, int64_t Stage,
                                         llvm::ArrayRef<ChunkLoad> Chunks,
                                         Release At) {
  ScheduleWalker Walker(S, Stage);
  Holder Held(Chunks);
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
  return Held.takePeak();
}

InFlight foretrace::ir::mostInFlight(const Schedule &S, int64_t Stage,
                                     Release At) {
  const std::vector<ChunkLoad> Chunks(static_cast<size_t>(S.Chunks));
  return heaviestStep(S, Stage, Chunks, At).Kept;
}
