// SPDX-License-Identifier: Apache-2.0
//
// Pipeline schedules: the order in which stages run micro-batches and model
// chunks and exchange messages. A schedule is a program for each kind of stage:
// loops of slots, whose micro-batches, chunks, peers and tags are closed forms
// of the loop's index and the stage. Its size depends neither on stages nor on
// micro-batches; ScheduleWalker (ir/schedule/ScheduleWalker.h) unfolds it.
#pragma once

#include "ir/model/Index.h"
#include "ir/model/Spec.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <optional>
#include <vector>

namespace foretrace::ir {

enum class SchedulePhase : unsigned char {
#define SCHEDULE_PHASE(ENUMERATOR, SPELLING, DOC) ENUMERATOR,
#include "ir/model/Actions.def"
};
llvm::StringRef getName(SchedulePhase P);

enum class ActionKind : unsigned char {
#define ACTION(ENUMERATOR, SPELLING, DOC) ENUMERATOR,
#include "ir/model/Actions.def"
};
inline constexpr unsigned NumActionKinds = 0
#define ACTION(ENUMERATOR, SPELLING, DOC) +1
#include "ir/model/Actions.def"
    ;
llvm::StringRef getName(ActionKind K);
/// Returns whether the action runs a chunk on a micro-batch.
inline bool isCompute(ActionKind K) {
  return K == ActionKind::Forward || K == ActionKind::Backward ||
         K == ActionKind::BackwardInput || K == ActionKind::BackwardWeight;
}
inline bool isSend(ActionKind K) {
  return K == ActionKind::SendForward || K == ActionKind::SendBackward;
}
inline bool isReceive(ActionKind K) {
  return K == ActionKind::RecvForward || K == ActionKind::RecvBackward;
}
inline bool isMessage(ActionKind K) { return isSend(K) || isReceive(K); }
/// Returns whether a message contains an activation rather than a gradient.
inline bool isForward(ActionKind K) {
  return K == ActionKind::SendForward || K == ActionKind::RecvForward;
}
/// Returns whether a message is exchanged with the part after its own.
inline bool isWithNext(ActionKind K) {
  return K == ActionKind::SendForward || K == ActionKind::RecvBackward;
}

enum class PlacementKind : unsigned char {
#define PLACEMENT(ENUMERATOR, SPELLING, DOC) ENUMERATOR,
#include "ir/model/Placements.def"
};

/// The transport of messages.
enum class Transport : unsigned char {
  Combined, ///< a call returns when all its messages have met
  Eager,    ///< a send returns at once, a receive when the message has arrived
};

/// A row of ir/model/Schedules.def.
struct ScheduleInfo {
  PlacementKind Placement;
  ir::Transport Transport;
  int64_t LeastVpp, MostVpp;
};
const ScheduleInfo &getInfo(ScheduleKind K);
/// Returns the placement of the parts of a job; for a schedule file it follows
/// from the stages that run them.
PlacementKind placementOf(const ParallelSpec &P);

/// The beginning of a slot.
enum class SlotStart : unsigned char {
  After,      ///< when the previous slot has ended
  With,       ///< in one call with the previous slot
  Overlapped, ///< interleaved with the previous slot, piece by piece
};

/// An action of a stage in each iteration of a loop. The slot is empty if its
/// micro-batch or chunk does not exist, or if its message would go beyond the
/// ends of the model or to the stage itself.
struct Slot {
  ActionKind Kind;
  SlotStart Start = SlotStart::After;
  /// For a step or message; invalid for actions once per iteration of training.
  IndexId MicroBatch = {}, Chunk = {};
  IndexId Peer = {};      ///< the other stage of a message
  IndexId Tag = {};       ///< of a message: equal at both ends, and unique
  SourceRange Range = {}; ///< where it is defined, if known
};

struct SlotLoop {
  SchedulePhase Phase;
  IndexId Count; ///< number of iterations; none if not positive
  llvm::SmallVector<Slot, 8> Slots;
  // Evaluated in each iteration; set by `prepare`:
  IndexCode Varying = {};
  IndexCode WithoutPeers = {}; ///< but for peers and tags
};

/// The program of each of the stages [First, First + Count).
struct StageProgram {
  int64_t First = 0;
  int64_t Count = 1;
  std::vector<SlotLoop> Loops;
  IndexCode Fixed = {}; ///< evaluated once; set by `prepare`
};

/// The schedule of every stage.
struct Schedule {
  ScheduleKind Kind = ScheduleKind::None;
  PlacementKind Placement = PlacementKind::Loop;
  ir::Transport Transport = Transport::Combined;
  int64_t Stages = 1; ///< pp
  int64_t Chunks = 1; ///< per stage
  int64_t MicroBatches = 1;
  /// Micro-batches that an interleaved stage runs through a chunk before the
  /// next one; the last group may be smaller.
  int64_t Group = 1;
  IndexTable Indices;
  std::vector<StageProgram> Programs; ///< in order of stages

  /// Prepares the schedule to be walked; to be called when all programs exist.
  void prepare();
  /// Returns the number of forward passes of a stage through one of its chunks.
  int64_t steps() const { return MicroBatches * Chunks; }
  /// Returns the number of parts of the model.
  int64_t parts() const;
  /// Returns the part of a chunk of a stage, from 0 at the embedding.
  int64_t partOf(int64_t Stage, int64_t Chunk) const;
  /// The location of a part; of two copies, that of the first.
  struct Place {
    int64_t Stage, Chunk;
  };
  Place placeOf(int64_t Part) const;
  /// Returns the stage that has the part after, or before, that of a chunk;
  /// nothing at the ends of the model.
  std::optional<int64_t> neighbour(int64_t Stage, int64_t Chunk,
                                   bool IsNext) const;
  /// Messages of a stage to other stages for a micro-batch, in both directions.
  struct Messages {
    int64_t Distance; ///< stages from the sender to the receiver
    int64_t Count;
  };
  /// Returns the messages in order of distance.
  llvm::SmallVector<Messages, 2> messagesOf(int64_t Stage) const;
  /// Returns whether a micro-batch passes through a chunk.
  bool takes(int64_t Chunk, int64_t MicroBatch) const {
    return Placement != PlacementKind::Bidirectional ||
           (MicroBatch < MicroBatches / 2) == (Chunk == 0);
  }
  /// Returns the number of micro-batches that pass through each chunk.
  int64_t microBatchesOfChunk() const {
    return Placement == PlacementKind::Bidirectional ? MicroBatches / 2
                                                     : MicroBatches;
  }
  const StageProgram &programOf(int64_t Stage) const;
};

/// A slot in one iteration.
struct Action {
  ActionKind Kind = ActionKind::Step;
  SchedulePhase Phase = SchedulePhase::Finalize;
  int64_t MicroBatch = 0; ///< from 0; also for messages
  int64_t Chunk = 0;      ///< of this stage, from 0
  SlotStart Start = SlotStart::After;
  int64_t Peer = 0;         ///< for a message
  int64_t Tag = 0;          ///< for a message
  const Slot *Of = nullptr; ///< its slot; null for an action that is missing

  /// Returns whether it belongs to the call of the previous action.
  bool isFused() const { return Start == SlotStart::With; }
};

/// A message between stages. Its two ends refer to it by different actions and
/// chunks, but agree on these fields.
struct PipelineMessage {
  bool IsForward;
  int64_t MicroBatch;
  /// The part of the model that sends forward or receives backward.
  int64_t Part;

  /// Distinguishes it from all other messages of an iteration.
  size_t key(const Schedule &Of) const {
    return static_cast<size_t>((Part * Of.MicroBatches + MicroBatch) * 2 +
                               IsForward);
  }
};

/// Returns the message that an action of stage \p Stage sends or receives, if
/// any.
std::optional<PipelineMessage> messageOf(const Schedule &S, int64_t Stage,
                                         const Action &A);

/// The placement of an output head that is tied to the embedding. On the same
/// stage it uses the same table; on another stage it has a copy (Megatron-LM,
/// LanguageModule.setup_embeddings_and_output_layer).
enum class TiedHead : unsigned char { Apart, BesideEmbedding };
/// Returns the placement of a job's head, tied or not. It is apart if the parts
/// of the model are in a loop over several stages; otherwise the first and the
/// last part are on one stage.
TiedHead tiedHeadOf(const ParallelSpec &P);

} // namespace foretrace::ir
