// SPDX-License-Identifier: Apache-2.0
#include "analysis/InFlight.h"
#include "ir/schedule/ScheduleWalker.h"
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

/// What was in flight at some time. A chunk's count is copied when it changes,
/// so that there may be as many such times as steps.
class InFlightCounts {
public:
  explicit InFlightCounts(size_t Chunks) : Copies(Chunks) {}

  int64_t Count = 0;
  __int128 Load = 0;
  std::optional<Action> At;

  /// Becomes this very moment.
  void set(int64_t NewCount, __int128 NewLoad,
           std::optional<Action> NewAt = std::nullopt) {
    for (size_t Chunk : Changed)
      Copies[Chunk] = std::nullopt;
    Changed.clear();
    Count = NewCount;
    Load = NewLoad;
    At = NewAt;
  }
  /// \p Chunk, which has \p Now, is about to change.
  void keep(size_t Chunk, int64_t Now) {
    if (Copies[Chunk])
      return;
    Copies[Chunk] = Now;
    Changed.push_back(Chunk);
  }
  int64_t ofChunk(size_t Chunk, int64_t Now) const {
    return Copies[Chunk].value_or(Now);
  }
  llvm::ArrayRef<size_t> changed() const { return Changed; }

private:
  std::vector<std::optional<int64_t>> Copies;
  llvm::SmallVector<size_t> Changed; ///< since then
};

/// Holds what is on its way, step by step.
class Holder {
public:
  explicit Holder(llvm::ArrayRef<ChunkLoad> Chunks)
      : Chunks(Chunks), OfChunk(Chunks.size()), Peak(Chunks.size()),
        Before(Chunks.size()), Highest(Chunks.size()) {}

  void beginPeriod() {
    Before.set(Count, Load);
    Highest.set(Count, Load);
  }
  void step(const Action &A, int64_t Change);
  void repeat(int64_t Times);
  HeaviestStep peak() const;

private:
  void add(size_t Chunk, int64_t Change);

  llvm::ArrayRef<ChunkLoad> Chunks;
  // Now:
  int64_t Count = 0;
  llvm::SmallVector<int64_t, 4> OfChunk;
  __int128 Load = 0;
  InFlightCounts Peak;
  InFlightCounts Before, Highest; ///< of the period that is walked
};

} // namespace

void Holder::add(size_t Chunk, int64_t Change) {
  for (InFlightCounts *M : {&Peak, &Before, &Highest})
    M->keep(Chunk, OfChunk[Chunk]);
  Count += Change;
  OfChunk[Chunk] += Change;
  Load += static_cast<__int128>(Change) * Chunks[Chunk].Kept;
}

/// What is kept for a step is there before a backward one, and after a forward
/// one.
void Holder::step(const Action &A, int64_t Change) {
  const auto Chunk = static_cast<size_t>(A.Chunk);
  const bool IsForward = A.Kind == ActionKind::Forward;
  if (IsForward)
    add(Chunk, Change);
  const __int128 Needed =
      Load + (IsForward ? Chunks[Chunk].Forward : Chunks[Chunk].Backward);
  for (InFlightCounts *To : {&Highest, &Peak})
    if (Needed > To->Load)
      To->set(Count, Needed, A);
  if (!IsForward && Change != 0)
    add(Chunk, Change);
}

/// All of the period repeats: its last highest step may be the peak.
void Holder::repeat(int64_t Times) {
  const int64_t Growth = (Count - Before.Count) * Times;
  const __int128 Heavier = (Load - Before.Load) * Times;
  const bool IsPeak = Highest.Load + Heavier > Peak.Load;
  if (IsPeak)
    Peak.set(Highest.Count + Growth, Highest.Load + Heavier, Highest.At);
  for (size_t Chunk : Before.changed()) {
    int64_t &Now = OfChunk[Chunk];
    const int64_t More = (Now - Before.ofChunk(Chunk, Now)) * Times;
    Peak.keep(Chunk, IsPeak ? Highest.ofChunk(Chunk, Now) + More : Now);
    Now += More;
  }
  Count += Growth;
  Load += Heavier;
}

HeaviestStep Holder::peak() const {
  HeaviestStep Most = {{Peak.Count, OfChunk}, Peak.At, Peak.Load};
  for (size_t Chunk : Peak.changed())
    Most.Kept.OfChunk[Chunk] = Peak.ofChunk(Chunk, OfChunk[Chunk]);
  return Most;
}

HeaviestStep foretrace::heaviestStep(const Schedule &S, int64_t Stage,
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
  return Held.peak();
}

InFlight foretrace::mostInFlight(const Schedule &S, int64_t Stage, Release At) {
  const std::vector<ChunkLoad> Chunks(static_cast<size_t>(S.Chunks));
  return heaviestStep(S, Stage, Chunks, At).Kept;
}
