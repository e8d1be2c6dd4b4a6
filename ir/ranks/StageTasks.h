// SPDX-License-Identifier: Apache-2.0
//
// Tasks of a rank in one iteration of training: the schedule of its stage, with
// each step unfolded into the ops of its layers. All ranks of a stage have the
// same tasks, with other members of their groups. Every backend that writes a
// program per rank reads them.
#pragma once

#include "ir/model/Boundary.h"
#include "ir/ranks/BlockTasks.h"
#include "ir/schedule/StageCalls.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <array>
#include <map>

namespace foretrace::ir {

class RankMap;

enum class TaskKind : unsigned char { Compute, Collective, Send, Receive };

/// The other end of a message: a rank on the line along some axes.
struct TaskPeer {
  AxisList Axes;
  int64_t Position =
      0; ///< on the line, or the distance from the rank's own position
  bool IsRelative = false;

  int64_t rank(const RankMap &Map, int64_t Rank) const;
};

/// A task of a rank. Tasks are numbered from 0, in an order in which they can
/// be executed.
struct Task {
  TaskKind Kind;
  const Op *Of = nullptr;    ///< null for a message between stages
  const Block *In = nullptr; ///< the block of the op
  ActionKind Action;         ///< the action of the schedule to which it belongs
  int64_t MicroBatch = -1;   ///< from 0; -1 in the step
  int64_t Chunk = -1;        ///< from 0; -1 in the step
  /// For an op of a layer, its position in the sequence of layers, from 0 at
  /// the embedding; else -1.
  int64_t Layer = -1;
  // For a message:
  TaskPeer Peer;
  /// A tag that is equal at both ends and unique between two ranks.
  int64_t Tag = 0;
  BoundaryId Boundary; ///< what a message between stages consists of
  /// Other ops that are done in the same call.
  llvm::SmallVector<const Op *, 0> With;
  /// Bytes of a message; for a collective, as defined by `messageBytes`.
  Bytes Size;
  /// Earlier tasks whose results it reads.
  llvm::SmallVector<int64_t, 4> Data;
  /// Earlier tasks that it follows only for the sake of order. Communication
  /// tasks run one after the other in the verified order, except for messages
  /// of one call. Compute tasks run one after the other, too.
  llvm::SmallVector<int64_t, 4> Control;
};

/// The tasks of one stage. Memory grows with the layers and micro-batches of
/// the stage, not with its tasks.
class StageTasks {
public:
  /// \p P has steps, is verified, and must outlive this.
  StageTasks(const Program &P, int64_t Stage);

  /// Calls \p Visit with each task and its number, in order; stops soon after
  /// it returns false.
  void forEach(llvm::function_ref<bool(int64_t, const Task &)> Visit);

private:
  struct LayerTasks {
    const BlockTasks *Of;
    /// Tasks of the chunk before those of this layer, in each step. In the
    /// backward direction, these are the tasks of later layers.
    std::array<int64_t, NumActionKinds> Before;
    /// Calls of its unit, from the first task of a step, by part.
    std::array<int64_t, 5> Unit = {};
    /// Tasks before those that run the forward pass again.
    std::array<int64_t, NumActionKinds> Again = {};
    size_t First = 0, Last = 0; ///< layers that are recomputed together
  };
  /// A read of a sample by one of the layers.
  struct Read {
    size_t Layer;
    OpId Of;
    bool operator==(const Read &R) const {
      return Layer == R.Layer && Of == R.Of;
    }
  };
  using UnitOfLayers = llvm::SmallVector<size_t, 2>;
  using UnitLayers = llvm::ArrayRef<size_t>;
  struct ChunkTasks {
    std::vector<LayerTasks> Layers;
    std::vector<Read> Reads; ///< in order, before all else of a forward step
    int64_t FirstLayer = 0;  ///< of the model
    /// Layers that are units, from the first one: gathered ones in the order of
    /// the forward pass, and reduced ones in that of the backward pass.
    std::vector<UnitOfLayers> Gathers, Reductions;
    /// Calls that gather all units before a forward step; 0 if each is gathered
    /// with its layers.
    int64_t Ahead = 0;
  };
  /// Messages of the step that come within the step of the only chunk with a
  /// micro-batch: before ops of the forward pass, and after ops of the backward
  /// pass.
  struct Within {
    int64_t MicroBatch = -1;
    /// By the layer and the number of the op.
    std::map<std::pair<size_t, size_t>, std::vector<std::pair<OpId, Bytes>>> At;
    /// After how many of the step's own tasks some were sent, and how many were
    /// until then.
    std::vector<std::pair<int64_t, int64_t>> Sent;
    /// Returns the number of messages before an own task.
    int64_t before(int64_t Own) const;
  };
  /// The part of a layer that runs: all, the forward pass again, or the rest.
  enum class LayerPart : unsigned char { Whole, Again, Rest };
  using Ids = llvm::SmallVectorImpl<int64_t>;
  using Visitor = llvm::function_ref<bool(int64_t, const Task &)>;

  void addLayers(ChunkTasks &To, const LayerSequence &Layers);
  void orderReads(ChunkTasks &Of) const;
  void walkStep(const ChunkTasks &Of, bool IsForward,
                llvm::function_ref<void(UnitLayers, UnitPart)> Unit,
                llvm::function_ref<void(size_t, LayerPart)> Layer) const;
  void joinRecomputed(ChunkTasks &Of) const;
  static UnitLayers unitOf(const ChunkTasks &Of, size_t Layer, UnitPart Part);
  bool areFew(const ChunkTasks &Of) const;
  void addUnits(ChunkTasks &Of) const;
  int64_t elementsOf(const LayerTasks &L, UnitPart Part) const;
  /// A call of a unit.
  struct UnitCall {
    Group Over;
    llvm::SmallVector<Read, 8> Ops; ///< ops of layers
  };
  llvm::SmallVector<UnitCall, 2>
  callsOf(const ChunkTasks &Of, UnitLayers Layers, UnitPart Part) const;
  const BlockTasks &plan(BlockId Of);

  /// First tasks of a micro-batch in a chunk, by kind of action; -1 for actions
  /// that have not run.
  struct Done {
    std::array<int64_t, NumActionKinds> First;
    int64_t Read = -1; ///< the first read of a sample
    Done() { First.fill(-1); }
  };
  Done &done(const Action &A);
  bool isFromBefore(const Action &A, UnitPart Part) const;

  // Adds the tasks that make something for a micro-batch.
  void addOp(const Action &A, size_t Layer, OpId Of, Ids &To);
  void addSources(const Action &A, size_t Layer, const TaskSources &Of,
                  Ids &To);
  void addEntry(const Action &A, bool IsForward, Ids &To);
  void addExit(const Action &A, bool IsForward, Ids &To);

  void call(llvm::ArrayRef<Action> Actions, Visitor Visit);
  void message(const Action &A, Visitor Visit);
  void step(const Action &A, Visitor Visit);
  void compute(const Action &A, Visitor Visit);
  void readSample(Action A, Visitor Visit);
  void unit(const Action &A, UnitLayers Layers, UnitPart Part, Visitor Visit);
  void update(Visitor Visit);
  bool gathersFirst() const;
  bool gathersInStep(std::optional<int64_t> Chunk) const;
  std::pair<size_t, size_t> placeOf(const BucketMessage &M,
                                    bool IsForward) const;
  void timeChunks();
  void timeReductions();
  void timeGathers();
  void timeGathers(llvm::ArrayRef<OpId> Gathers);
  void sendAt(Within &Of, const Action &A, size_t Layer, size_t Op, int64_t Own,
              Visitor Visit);
  void early(OpId Of, std::optional<Bytes> Message, Visitor Visit);
  void earlyOf(int64_t Chunk, bool IsGather, Visitor Visit);
  void layer(const Action &A, size_t Layer, LayerPart Part, Visitor Visit);
  void opOf(const Action &A, size_t Layer, OpId Of, Visitor Visit);
  void op(const BlockTasks &Plan, OpId Of, Task &T, Visitor Visit);
  void collective(const Op &Of, Bytes Size, Task T, Visitor Visit);
  void ring(const Op &Of, Task &T, Visitor Visit);
  void gatherEach(const Op &Of, const Block &In, const Task &T, Visitor Visit);
  void visit(Task &T, Visitor Visit);

  const Program &P;
  const int64_t Stage;
  const Schedule &S;
  const bool HasUnits;
  std::map<unsigned, BlockTasks> Plans; ///< by block
  std::vector<ChunkTasks> Chunks;
  std::vector<Done> Dones; ///< by micro-batch and chunk
  int64_t Next = 0;
  bool IsOver = false;    ///< a visitor returned false
  int64_t RingRounds = 0; ///< so far; each is a message both ways
  /// Chunks that are reduced after a backward step, or gathered before a
  /// forward step, by the number of the step.
  std::map<int64_t, int64_t> Reductions, Gathers;
  Within Forward, Backward;
  int64_t Forwards = 0, Backwards = 0; ///< steps so far
  Table<OpId, int64_t> StepTasks; ///< of ops of the step: the last one, or -1
  // Tasks before the next one that communicates, or computes.
  llvm::SmallVector<int64_t, 4> Communicated, Computed;
};

} // namespace foretrace::ir
