// SPDX-License-Identifier: Apache-2.0
#include "ir/schedule/ScheduleBuilder.h"
#include "llvm/Support/ErrorHandling.h"

using namespace foretrace;
using namespace foretrace::ir;

bool ScheduleBuilder::program(int64_t Last) {
  const int64_t First = S.Programs.empty()
                            ? 0
                            : S.Programs.back().First + S.Programs.back().Count;
  if (Last < First)
    return false;
  S.Programs.push_back({First, Last - First + 1, {}});
  return true;
}

ScheduleBuilder &ScheduleBuilder::loop(SchedulePhase Phase, IndexExpr Count) {
  S.Programs.back().Loops.push_back({Phase, Count, {}});
  return *this;
}

void ScheduleBuilder::finalize() {
  once(SchedulePhase::Finalize);
  add({ActionKind::Reduce});
  add({ActionKind::Step});
}

ScheduleBuilder &ScheduleBuilder::begin(SlotStart How) {
  Start = How;
  return *this;
}

ScheduleBuilder &ScheduleBuilder::add(Slot Of) {
  Of.Start = Start;
  Of.Range = Range;
  Start = SlotStart::After;
  S.Programs.back().Loops.back().Slots.push_back(Of);
  return *this;
}

ScheduleBuilder &ScheduleBuilder::compute(ActionKind Kind, StepExpr Of) {
  Slot Out{Kind};
  Out.MicroBatch = Of.MicroBatch;
  Out.Chunk = Of.Chunk;
  return add(Out);
}

/// The part of the model that \p Chunk of the stage is.
IndexExpr ScheduleBuilder::part(IndexExpr Chunk) {
  if (S.Placement == PlacementKind::Loop)
    return Chunk * p() + s();
  const IndexExpr Last = (S.Placement == PlacementKind::V ? 2 * p() : p()) - 1;
  if (Chunk.constant() == 1)
    return Last - s();
  return s() + Chunk * (Last - 2 * s());
}

/// The stage that has the part after, or before, that of \p Chunk.
IndexExpr ScheduleBuilder::neighbour(IndexExpr Chunk, bool IsNext) {
  if (S.Placement != PlacementKind::Loop) {
    const bool IsUp = Chunk.constant() == 1;
    return IsUp == IsNext ? s() - 1 : s() + 1;
  }
  if (S.Chunks == 1)
    return IsNext ? s() + 1 : s() - 1;
  return (IsNext ? s() + 1 : s() + p() - 1) % p();
}

void ScheduleBuilder::address(Slot &Message) {
  const bool IsNext = isWithNext(Message.Kind);
  const IndexExpr Chunk(S.Indices, Message.Chunk);
  const IndexExpr Lower = IsNext ? part(Chunk) : part(Chunk) - 1;
  const IndexExpr Number =
      2 * (Lower * m() + IndexExpr(S.Indices, Message.MicroBatch));
  Message.Peer = neighbour(Chunk, IsNext);
  Message.Tag = isForward(Message.Kind) ? Number : Number + 1;
}

ScheduleBuilder &ScheduleBuilder::message(ActionKind Kind, StepExpr Of) {
  Slot Out{Kind};
  Out.MicroBatch = Of.MicroBatch;
  Out.Chunk = Of.Chunk;
  address(Out);
  if (JoinsMessages)
    Start = SlotStart::With;
  return add(Out);
}

IndexExpr ScheduleBuilder::named(llvm::StringRef Name, IndexExpr E) {
  const IndexOp Op = S.Indices[E].Op;
  if (Op != IndexOp::Constant && Op != IndexOp::Variable)
    S.Indices.name(E, Name);
  return E;
}
