// SPDX-License-Identifier: Apache-2.0
#include "ir/model/Schedule.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/ErrorHandling.h"

using namespace foretrace;
using namespace foretrace::ir;

llvm::StringRef foretrace::ir::getName(SchedulePhase P) {
  static constexpr llvm::StringLiteral Names[] = {
#define SCHEDULE_PHASE(ENUMERATOR, SPELLING, DOC) SPELLING,
#include "ir/model/Actions.def"
  };
  return Names[static_cast<unsigned>(P)];
}

llvm::StringRef foretrace::ir::getName(ActionKind K) {
  static constexpr llvm::StringLiteral Names[] = {
#define ACTION(ENUMERATOR, SPELLING, DOC) SPELLING,
#include "ir/model/Actions.def"
  };
  return Names[static_cast<unsigned>(K)];
}

const ScheduleInfo &foretrace::ir::getInfo(ScheduleKind K) {
  constexpr int64_t Any = INT64_MAX;
  static constexpr ScheduleInfo Infos[] = {
#define SCHEDULE(ENUMERATOR, SPELLING, PLACEMENT, TRANSPORT, LEAST, MOST, DOC) \
  {PlacementKind::PLACEMENT, Transport::TRANSPORT, LEAST, MOST},
#include "ir/model/Schedules.def"
  };
  return Infos[static_cast<size_t>(K)];
}

PlacementKind foretrace::ir::placementOf(const ParallelSpec &P) {
  if (P.Steps.empty())
    return getInfo(*P.Schedule).Placement;
  // Only in a V the first stage has the last of two parts a stage.
  const int64_t Last = 2 * static_cast<int64_t>(P.Steps.size()) - 1;
  const bool IsV = llvm::any_of(P.Steps.front(), [&](const ScheduleSteps &At) {
    return llvm::any_of(At.Entry.Cells,
                        [&](const Cell &C) { return C.Part == Last; });
  });
  return IsV && P.Steps.size() > 1 ? PlacementKind::V : PlacementKind::Loop;
}

void Schedule::prepare() {
  for (StageProgram &P : Programs) {
    llvm::SmallVector<IndexId, 128> All;
    for (SlotLoop &L : P.Loops) {
      llvm::SmallVector<IndexId, 32> Used = {L.Count};
      auto Add = [&](IndexId I) {
        if (I.isValid())
          Used.push_back(I);
      };
      for (const Slot &Of : L.Slots) {
        Add(Of.MicroBatch);
        Add(Of.Chunk);
      }
      L.WithoutPeers = Indices.code(Used, /*Varying=*/true);
      for (const Slot &Of : L.Slots) {
        Add(Of.Peer);
        Add(Of.Tag);
      }
      L.Varying = Indices.code(Used, /*Varying=*/true);
      All.append(Used);
    }
    P.Fixed = Indices.code(All, /*Varying=*/false);
  }
}

int64_t Schedule::parts() const {
  return Placement == PlacementKind::Bidirectional ? Stages : Stages * Chunks;
}

int64_t Schedule::partOf(int64_t Stage, int64_t Chunk) const {
  switch (Placement) {
  case PlacementKind::Loop:
    return Chunk * Stages + Stage;
  case PlacementKind::V:
  case PlacementKind::Bidirectional:
    return Chunk == 0 ? Stage : parts() - 1 - Stage;
  }
  llvm_unreachable("every placement is handled");
}

Schedule::Place Schedule::placeOf(int64_t Part) const {
  if (Placement == PlacementKind::V && Part >= Stages)
    return {parts() - 1 - Part, 1};
  return {Part % Stages, Part / Stages};
}

std::optional<int64_t> Schedule::neighbour(int64_t Stage, int64_t Chunk,
                                           bool IsNext) const {
  const int64_t Part = partOf(Stage, Chunk) + (IsNext ? 1 : -1);
  if (Part < 0 || Part == parts())
    return std::nullopt;
  const bool IsSecondCopy =
      Placement == PlacementKind::Bidirectional && Chunk == 1;
  return IsSecondCopy ? Stages - 1 - Part : placeOf(Part).Stage;
}

/// Activations go to the next part of the model, their gradients to the one
/// before.
llvm::SmallVector<Schedule::Messages, 2>
Schedule::messagesOf(int64_t Stage) const {
  llvm::SmallVector<Messages, 2> Sent;
  for (int64_t Chunk = 0; Chunk < Chunks; ++Chunk)
    for (const bool IsNext : {true, false}) {
      const auto Peer = neighbour(Stage, Chunk, IsNext);
      if (!Peer || *Peer == Stage)
        continue;
      const int64_t Distance = *Peer - Stage;
      auto *It = llvm::partition_point(
          Sent, [&](const Messages &M) { return M.Distance < Distance; });
      if (It == Sent.end() || It->Distance != Distance)
        It = Sent.insert(It, {Distance, 0});
      ++It->Count;
    }
  return Sent;
}

const StageProgram &Schedule::programOf(int64_t Stage) const {
  auto Found = llvm::partition_point(Programs, [&](const StageProgram &P) {
    return P.First + P.Count <= Stage;
  });
  return *Found;
}

std::optional<PipelineMessage>
foretrace::ir::messageOf(const Schedule &S, int64_t Stage, const Action &A) {
  if (!isMessage(A.Kind))
    return std::nullopt;
  const int64_t Part = S.partOf(Stage, A.Chunk);
  return PipelineMessage{isForward(A.Kind), A.MicroBatch,
                         isWithNext(A.Kind) ? Part : Part - 1};
}

TiedHead foretrace::ir::tiedHeadOf(const ParallelSpec &P) {
  return *P.Pp > 1 && getInfo(*P.Schedule).Placement == PlacementKind::Loop
             ? TiedHead::Apart
             : TiedHead::BesideEmbedding;
}
