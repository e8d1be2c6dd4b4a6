// SPDX-License-Identifier: Apache-2.0
#include "ir/ScheduleWalker.h"
#include "lang/Quantity.h"
#include <algorithm>

using namespace foretrace;
using namespace foretrace::ir;

ScheduleWalker::ScheduleWalker(const Schedule &S, int64_t Stage)
    : S(S), Stage(Stage), Program(S.programOf(Stage)), Values(S.Indices) {
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

/// Before the first iteration of the loop, if there is one.
void ScheduleWalker::enterLoop() {
  if (Loop == Program.Loops.size())
    return;
  const SlotLoop &L = Program.Loops[Loop];
  Count = Values[L.Count];
  Iteration = -1;
  Period.reset();
  Next = L.Slots.size();
}

void ScheduleWalker::compute(int64_t Index) {
  Values.set(IndexVariable::I, Index);
  Values.compute(Program.Loops[Loop].Varying);
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
    // Calls are of messages only, and overlap is of what runs.
    if (HasBegun && IsMessage == isMessage(A->Kind))
      A->Start = Of.Start;
    HasBegun = true;
    IsMessage = isMessage(A->Kind);
    return A;
  }
  return std::nullopt;
}

/// By how many micro-batches all slots of the loop go on in \p Iterations, and
/// how often; nothing if they differ, or change their chunks.
std::optional<IndexValues::Trend>
ScheduleWalker::trend(int64_t Iterations) const {
  using Trend = IndexValues::Trend;
  std::optional<Trend> Common;
  for (const Slot &Of : Program.Loops[Loop].Slots) {
    if (!Of.MicroBatch.isValid())
      continue;
    const std::optional<Trend> G = Values.trend(Of.MicroBatch, Iterations);
    const std::optional<Trend> OfChunk = Values.trend(Of.Chunk, Iterations);
    if (!G || (Common && Common->Growth != G->Growth) || !OfChunk ||
        OfChunk->Growth != 0)
      return std::nullopt;
    const int64_t Times = std::min(G->Times, OfChunk->Times);
    Common = {G->Growth, Common ? std::min(Common->Times, Times) : Times};
  }
  return Common;
}

int64_t ScheduleWalker::findPeriod() const {
  for (int64_t Iterations : {int64_t(1), int64_t(2)})
    if (Iterations < Count)
      if (auto T = trend(Iterations); T && T->Times == T->Always)
        return Iterations;
  // Megatron-LM's groups go through all chunks, in runs of one chunk.
  const bool HasRuns = trend(1).has_value();
  const int64_t Rounds = Count / S.Chunks / S.Group;
  if (Rounds > 0 && (!HasRuns || Rounds >= S.Group))
    if (auto T = trend(S.Chunks * S.Group); T && T->Times > 0)
      return S.Chunks * S.Group;
  return HasRuns ? 1 : 0;
}

int64_t ScheduleWalker::period() {
  if (!Period)
    Period = findPeriod();
  return *Period;
}

/// How many more times a slot is, or is not, empty as it is now.
int64_t ScheduleWalker::repetitions(const Slot &Of, int64_t Growth) const {
  constexpr int64_t Always = INT64_MAX;
  if (!Of.MicroBatch.isValid() || Growth == 0)
    return Always;
  const int64_t Chunk = Values[Of.Chunk], Now = Values[Of.MicroBatch];
  if (Chunk < 0 || Chunk >= S.Chunks)
    return Always;
  const int64_t Left = Growth > 0 ? S.MicroBatches - 1 - Now : Now;
  if (Left < 0)
    return Always; // it has gone by
  if (Left >= S.MicroBatches)
    return 0; // it has not begun
  return Left / std::max(Growth, -Growth);
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
  for (int64_t Of = Iteration + 1 - *Period; Of <= Iteration; ++Of) {
    compute(Of);
    const std::optional<IndexValues::Trend> T = trend(*Period);
    Times = std::min(Times, T ? T->Times : 0);
    for (const Slot &Each : Slots)
      if (T)
        Times = std::min(Times, repetitions(Each, T->Growth));
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
