// SPDX-License-Identifier: Apache-2.0
#include "ir/schedule/ScheduleWalker.h"
#include "lang/Quantity.h"
#include <algorithm>

using namespace foretrace;
using namespace foretrace::ir;

ScheduleWalker::ScheduleWalker(const Schedule &S, int64_t Stage, Visited Of)
    : S(S), Stage(Stage), Visits(Of), Program(S.programOf(Stage)),
      Values(S.Indices) {
  Values.set(IndexVariable::S, Stage);
  Values.set(IndexVariable::P, S.Stages);
  Values.set(IndexVariable::V, S.Chunks);
  Values.set(IndexVariable::M, S.MicroBatches);
  Values.set(IndexVariable::G, S.Group);
  Values.compute(Program.Fixed);
  auto IsElsewhere = [&](int64_t Chunk, bool IsNext) {
    return S.neighbour(Stage, Chunk, IsNext).value_or(Stage) != Stage;
  };
  for (int64_t Chunk = 0; Chunk < S.Chunks; ++Chunk)
    Chunks.push_back({IsElsewhere(Chunk, /*IsNext=*/true),
                      IsElsewhere(Chunk, /*IsNext=*/false)});
  enterLoop();
}

/// Goes to the place before the first iteration of the loop, if there is one.
void ScheduleWalker::enterLoop() {
  if (Loop == Program.Loops.size())
    return;
  const SlotLoop &L = Program.Loops[Loop];
  Count = Values[L.Count];
  Iteration = -1;
  Period.reset();
  Next = L.Slots.size();
}

const IndexCode &ScheduleWalker::varying() const {
  const SlotLoop &L = Program.Loops[Loop];
  return Visits == Visited::All ? L.Varying : L.WithoutPeers;
}

void ScheduleWalker::compute(int64_t Index) {
  Values.set(IndexVariable::I, Index);
  Values.compute(varying());
}

/// Goes to the first slot of the next iteration of this or a later loop.
bool ScheduleWalker::beginIteration() {
  while (Loop < Program.Loops.size() && ++Iteration >= Count) {
    ++Loop;
    enterLoop();
  }
  if (Loop == Program.Loops.size())
    return false;
  compute(Iteration);
  Next = 0;
  IsEmpty = true;
  return !hasFailed();
}

int64_t ScheduleWalker::iterations() const {
  using Total = Quantity<struct IterationUnit>;
  Total Sum;
  for (const SlotLoop &L : Program.Loops)
    Sum += Total(std::max<int64_t>(Values[L.Count], 0));
  return Sum.isOverflow() ? INT64_MAX : Sum.value();
}

std::optional<Action> ScheduleWalker::actionOf(const Slot &Of) const {
  Action A;
  A.Of = &Of;
  A.Kind = Of.Kind;
  A.Phase = Program.Loops[Loop].Phase;
  if (!Of.MicroBatch.isValid())
    return A;
  if (Visits == Visited::Steps && isMessage(Of.Kind))
    return std::nullopt;
  A.MicroBatch = Values[Of.MicroBatch];
  A.Chunk = Values[Of.Chunk];
  if (A.MicroBatch < 0 || A.MicroBatch >= S.MicroBatches || A.Chunk < 0 ||
      A.Chunk >= S.Chunks)
    return std::nullopt;
  if (!isMessage(Of.Kind))
    return A;
  A.Peer = Values[Of.Peer];
  A.Tag = Values[Of.Tag];
  const ChunkEnds &Ends = Chunks[static_cast<size_t>(A.Chunk)];
  return (isWithNext(A.Kind) ? Ends.SendsOn : Ends.SendsBack) ? std::optional(A)
                                                              : std::nullopt;
}

std::optional<Action> ScheduleWalker::next() {
  while (!hasFailed()) {
    if (Loop == Program.Loops.size())
      return std::nullopt;
    const std::vector<SlotLoop> &Loops = Program.Loops;
    if (Next == Loops[Loop].Slots.size()) {
      if (IsEmpty && Iteration >= 0) { // so are its repetitions
        Iteration += std::min(repetitions(1), Count - 1 - Iteration);
        compute(Iteration);
      }
      if (!beginIteration())
        return std::nullopt;
      continue;
    }
    const Slot &Of = Loops[Loop].Slots[Next++];
    if (Of.Start == SlotStart::After)
      HasBegun = false;
    std::optional<Action> A = actionOf(Of);
    if (!A)
      continue;
    // Only messages share a call, and only computations overlap.
    if (HasBegun && IsMessage == isMessage(A->Kind))
      A->Start = Of.Start;
    HasBegun = true;
    IsEmpty = false;
    IsMessage = isMessage(A->Kind);
    return A;
  }
  return std::nullopt;
}

/// Returns the growth of a slot's micro-batch by the computed trends; nothing
/// if it varies, or if the slot changes its chunk.
std::optional<IndexValues::Trend> ScheduleWalker::trend(const Slot &Of) const {
  using Trend = IndexValues::Trend;
  if (!Of.MicroBatch.isValid())
    return Trend{0, Trend::Always};
  const std::optional<Trend> G = Values.trend(Of.MicroBatch);
  const std::optional<Trend> OfChunk = Values.trend(Of.Chunk);
  if (!G || !OfChunk || OfChunk->Growth != 0)
    return std::nullopt;
  return Trend{G->Growth, std::min(G->Times, OfChunk->Times)};
}

/// Returns how often all slots of the loop repeat what they do in
/// \p Iterations; nothing if one of them does not.
std::optional<int64_t> ScheduleWalker::steadyTimes(int64_t Iterations) {
  Values.computeTrends(varying(), Iterations);
  int64_t Times = IndexValues::Trend::Always;
  for (const Slot &Of : Program.Loops[Loop].Slots) {
    const std::optional<IndexValues::Trend> T = trend(Of);
    if (!T)
      return std::nullopt;
    Times = std::min(Times, T->Times);
  }
  return Times;
}

int64_t ScheduleWalker::findPeriod() {
  for (int64_t Iterations : {int64_t(1), int64_t(2)})
    if (Iterations < Count &&
        steadyTimes(Iterations) == IndexValues::Trend::Always)
      return Iterations;
  // Megatron-LM's groups go through all chunks, in runs of one chunk.
  const bool HasRuns = steadyTimes(1).has_value();
  const int64_t Rounds = Count / S.Chunks / S.Group;
  if (Rounds > 0 && (!HasRuns || Rounds >= S.Group) &&
      steadyTimes(S.Chunks * S.Group).value_or(0) > 0)
    return S.Chunks * S.Group;
  return HasRuns ? 1 : 0;
}

int64_t ScheduleWalker::period() {
  if (!Period)
    Period = findPeriod();
  return *Period;
}

/// Returns how many more times a slot, which grows by \p Growth, stays empty,
/// or not empty.
int64_t ScheduleWalker::repetitions(const Slot &Of, int64_t Growth) const {
  constexpr int64_t Always = INT64_MAX;
  if (Growth == 0)
    return Always;
  const int64_t Chunk = Values[Of.Chunk], Now = Values[Of.MicroBatch];
  if (Chunk < 0 || Chunk >= S.Chunks)
    return Always;
  const int64_t Left = Growth > 0 ? S.MicroBatches - 1 - Now : Now;
  if (Left < 0)
    return Always; // it has gone by
  const bool HasBegun = Left < S.MicroBatches;
  const int64_t Times = (HasBegun ? Left : Left - S.MicroBatches) / Growth;
  return Growth > 0 ? Times : -Times;
}

/// Returns how many more times all slots do the same as now, each time
/// \p Iterations later.
int64_t ScheduleWalker::repetitions(int64_t Iterations) {
  Values.computeTrends(varying(), Iterations);
  int64_t Times = INT64_MAX;
  for (const Slot &Of : Program.Loops[Loop].Slots) {
    const std::optional<IndexValues::Trend> T = trend(Of);
    if (!T)
      return 0;
    Times = std::min({Times, T->Times, repetitions(Of, T->Growth)});
  }
  return Times;
}

int64_t ScheduleWalker::skipRepetitions() {
  if (Loop == Program.Loops.size())
    return 0;
  llvm::ArrayRef<Slot> Slots = Program.Loops[Loop].Slots;
  while (Next < Slots.size() && !actionOf(Slots[Next]))
    ++Next;
  if (Next < Slots.size() || period() == 0 || (Iteration + 1) % *Period != 0)
    return 0;
  int64_t Times = (Count - 1 - Iteration) / *Period;
  if (Times == 0)
    return 0;
  for (int64_t Of = Iteration + 1 - *Period; Of <= Iteration && Times > 0;
       ++Of) {
    compute(Of);
    Times = std::min(Times, repetitions(*Period));
  }
  Iteration += Times * *Period;
  compute(Iteration);
  return Times;
}

void foretrace::ir::forEachAction(
    const Schedule &S, int64_t Stage,
    llvm::function_ref<bool(const Action &)> Visit) {
  ScheduleWalker Walker(S, Stage);
  while (std::optional<Action> A = Walker.next())
    if (!Visit(*A))
      return;
}
