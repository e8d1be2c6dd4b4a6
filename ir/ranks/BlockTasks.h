// SPDX-License-Identifier: Apache-2.0
//
// Tasks of one rank for a block: the ops for which a rank has tasks, the steps
// of a schedule that run them, and the sources of their inputs.
// ir/ranks/StageTasks.h unfolds them.
#pragma once

#include "ir/model/Program.h"

namespace foretrace::ir {

/// The source of a value of a block.
struct TaskSource {
  enum class Kind : unsigned char {
    Op,             ///< a task of this block
    Input,          ///< an output of the block before
    OutputGradient, ///< a gradient of an input, from the block after
  };
  Kind From;
  unsigned Index; ///< of the op, or of the entry in the signature
};
using TaskSources = llvm::SmallVector<TaskSource, 2>;

/// The part of an op in the weights of a unit, which are one call: in PyTorch's
/// FSDP a unit is a layer, or all that is outside the layers, in DeepSpeed some
/// layers.
enum class UnitPart : unsigned char {
  None,
  Gather,      ///< of weights, in the forward pass
  GatherAgain, ///< in the backward pass
  Reduce,      ///< of their gradients
  Sum,         ///< of the shares over the other groups of replicas
};
/// Returns whether weights are gathered and reduced by units; with a pipeline
/// this is not modelled.
bool gathersByUnit(const Program &P);

/// Returns whether an op of a step gathers weights one by one.
bool gathersEach(const Program &P, const Op &O);

/// Returns whether \p O, of \p B, copies what one rank has read of a sample.
bool isRead(const Block &B, const Op &O);
/// Returns whether each chunk of a stage at an end of the pipeline reads a
/// sample, as in core 0.13 and 0.14 of Megatron-LM (pretrain_gpt.py, get_batch;
/// core/parallel_state.py, is_pipeline_first_stage).
bool readsForEachChunk(const Program &P);

/// The plan of a block. Its size depends only on the number of ops.
class BlockTasks {
public:
  BlockTasks(const Program &P, const Block &B);

  const Block &block() const { return B; }
  /// Returns the number of tasks of a step, whole or half.
  int64_t count(ActionKind Step) const { return Counts[index(Step)]; }
  /// Returns how many of them run the layer's forward pass again, if they
  /// precede all others.
  int64_t countAgain(ActionKind Step) const { return CountsAgain[index(Step)]; }
  /// Returns the number of tasks of an op: none for a view or a collective of
  /// one rank; one message in each direction for each step of a ring; one for
  /// each message of another one, or each weight that DeepSpeed gathers after
  /// the update.
  int64_t width(OpId Of) const { return Widths[Of]; }
  /// Returns the action that runs an op.
  ActionKind action(OpId Of) const { return Actions[Of]; }
  /// Returns the ops that send a sample which one rank has read to the others.
  /// All of a chunk precede its other ops.
  llvm::ArrayRef<OpId> reads() const { return Reads; }
  /// Returns the part of an op in its unit. Such ops are not numbered.
  UnitPart part(OpId Of) const { return Parts[Of]; }
  /// Returns the number of an op's first task in a step that runs it, from 0,
  /// without the reads.
  int64_t first(OpId Of, ActionKind Step) const {
    return Firsts[Of][index(Step)];
  }
  /// Returns the tasks that compute a value; none for values that exist from
  /// the start: parameters, tensors from the data loader, and gradients that a
  /// step finds.
  const TaskSources &sources(ValueId Of) const { return Sources[Of]; }

private:
  static size_t index(ActionKind Step) { return static_cast<size_t>(Step); }
  using PerAction = std::array<int64_t, NumActionKinds>;
  void number(const Program &P);
  void trace();

  const Block &B;
  Table<OpId, ActionKind> Actions;
  Table<OpId, int64_t> Widths;
  Table<OpId, PerAction> Firsts;
  llvm::SmallVector<OpId, 0> Reads;
  Table<OpId, UnitPart> Parts;
  Table<ValueId, TaskSources> Sources;
  PerAction Counts = {}, CountsAgain = {};
};

} // namespace foretrace::ir
