// SPDX-License-Identifier: Apache-2.0
//
// In which order the stages of a pipeline run micro-batches and model chunks,
// and exchange messages. A schedule is a program for each kind of stage: loops
// of slots, whose micro-batches, chunks, peers and tags are closed forms of the
// loop's index and the stage. Its size depends neither on stages nor on
// micro-batches; ScheduleWalker (ir/schedule/ScheduleWalker.h) unfolds it.
#ifndef FORETRACE_IR_MODEL_SCHEDULE_H
#define FORETRACE_IR_MODEL_SCHEDULE_H

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
/// Whether it runs a chunk, on a micro-batch.
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
/// Whether a message is of an activation, not of a gradient.
inline bool isForward(ActionKind K) {
  return K == ActionKind::SendForward || K == ActionKind::RecvForward;
}
/// Whether a message goes to, or comes from, the part after its own.
inline bool isWithNext(ActionKind K) {
  return K == ActionKind::SendForward || K == ActionKind::RecvBackward;
}

enum class PlacementKind : unsigned char {
#define PLACEMENT(ENUMERATOR, SPELLING, DOC) ENUMERATOR,
#include "ir/model/Placements.def"
};

/// How messages travel.
enum class Transport : unsigned char {
  Combined, ///< a call returns when all its messages have met
  Eager,    ///< a send returns at once, a receive when the message is there
};

/// A row of ir/model/Schedules.def.
struct ScheduleInfo {
  PlacementKind Placement;
  ir::Transport Transport;
  int64_t LeastVpp, MostVpp;
};
const ScheduleInfo &getInfo(ScheduleKind K);
/// How the parts of a job lie; a schedule file says it by where they run.
PlacementKind placementOf(const ParallelSpec &P);

/// How a slot begins.
enum class SlotStart : unsigned char {
  After,      ///< when the one before it has ended
  With,       ///< in one call with it
  Overlapped, ///< interleaved with it, piece by piece
};

/// One thing a stage does in each iteration of a loop. It is empty, and nothing
/// is done, if its micro-batch or chunk does not exist, and if it would send
/// beyond the ends of the model or to its own stage.
struct Slot {
  ActionKind Kind;
  SlotStart Start = SlotStart::After;
  /// Of what runs, is sent or is received; invalid once an iteration of
  /// training.
  IndexId MicroBatch = {}, Chunk = {};
  IndexId Peer = {}; ///< of a message: the other stage
  IndexId Tag = {};  ///< of a message: the same at both ends, and of no other
  SourceRange Range = {}; ///< where it is written, if it is
};

struct SlotLoop {
  SchedulePhase Phase;
  IndexId Count; ///< of iterations; not positive is none
  llvm::SmallVector<Slot, 8> Slots;
  IndexCode Varying = {}; ///< computed in each iteration; set by `prepare`
};

/// What each of the stages [First, First + Count) does, in order.
struct StageProgram {
  int64_t First = 0;
  int64_t Count = 1;
  std::vector<SlotLoop> Loops;
  IndexCode Fixed = {}; ///< computed once; set by `prepare`
};

/// The schedule of every stage.
struct Schedule {
  ScheduleKind Kind = ScheduleKind::None;
  PlacementKind Placement = PlacementKind::Loop;
  ir::Transport Transport = Transport::Combined;
  int64_t Stages = 1; ///< pp
  int64_t Chunks = 1; ///< of a stage
  int64_t MicroBatches = 1;
  /// Micro-batches that an interleaved stage takes through a chunk before the
  /// next one; the last group may be smaller.
  int64_t Group = 1;
  IndexTable Indices;
  std::vector<StageProgram> Programs; ///< in order of stages

  /// To be called when all programs are there, before they are walked.
  void prepare();
  /// Passes of a stage through one of its chunks, forward.
  int64_t steps() const { return MicroBatches * Chunks; }
  /// Parts that the model is cut into.
  int64_t parts() const;
  /// The part that a chunk of a stage is, from 0 at the embedding.
  int64_t partOf(int64_t Stage, int64_t Chunk) const;
  /// Where a part is: with two copies, where the first one is.
  struct Place {
    int64_t Stage, Chunk;
  };
  Place placeOf(int64_t Part) const;
  /// The stage that has the part after, or before, that of a chunk; nothing at
  /// the ends of the model.
  std::optional<int64_t> neighbour(int64_t Stage, int64_t Chunk,
                                   bool IsNext) const;
  /// Messages of a stage to other stages for a micro-batch, both ways.
  struct Messages {
    int64_t Distance; ///< stages from the sender to the receiver
    int64_t Count;
  };
  /// In order of distances.
  llvm::SmallVector<Messages, 2> messagesOf(int64_t Stage) const;
  /// Whether a micro-batch goes through a chunk.
  bool takes(int64_t Chunk, int64_t MicroBatch) const {
    return Placement != PlacementKind::Bidirectional ||
           (MicroBatch < MicroBatches / 2) == (Chunk == 0);
  }
  const StageProgram &programOf(int64_t Stage) const;
};

/// One slot of one iteration.
struct Action {
  ActionKind Kind = ActionKind::Step;
  SchedulePhase Phase = SchedulePhase::Finalize;
  int64_t MicroBatch = 0; ///< from 0; of what is sent or received, too
  int64_t Chunk = 0;      ///< of this stage, from 0
  SlotStart Start = SlotStart::After;
  int64_t Peer = 0;         ///< of a message
  int64_t Tag = 0;          ///< of a message
  const Slot *Of = nullptr; ///< which slot; none of what is missing

  /// Whether it is part of the call that the action before it began.
  bool isFused() const { return Start == SlotStart::With; }
};

/// A message between stages. Its two ends, which call it by different actions
/// and chunks, agree on these.
struct PipelineMessage {
  bool IsForward;
  int64_t MicroBatch;
  /// The part of the model that sends forward or receives backward.
  int64_t Part;

  /// Tells it from all other messages of an iteration.
  size_t key(const Schedule &Of) const {
    return static_cast<size_t>((Part * Of.MicroBatches + MicroBatch) * 2 +
                               IsForward);
  }
};

/// The message that an action of stage \p Stage sends or receives, if it does.
std::optional<PipelineMessage> messageOf(const Schedule &S, int64_t Stage,
                                         const Action &A);

/// Where an output head stands that is tied to the embedding: beside it, it
/// uses the same table; on another stage it has a copy of its own (Megatron-LM,
/// LanguageModule.setup_embeddings_and_output_layer).
enum class TiedHead : unsigned char { Apart, BesideEmbedding };
/// Of the heads of a job, tied or not: apart where the parts of the model lie
/// in a loop over several stages; else the first and the last one are on one
/// stage.
TiedHead tiedHeadOf(const ParallelSpec &P);

} // namespace foretrace::ir

#endif
