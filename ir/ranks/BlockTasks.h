// SPDX-License-Identifier: Apache-2.0
//
// A block as tasks of one rank: for which of its ops a rank does anything, in
// which steps of a schedule, and where what they take comes from. What
// ir/ranks/StageTasks.h unfolds.
#ifndef FORETRACE_IR_RANKS_BLOCKTASKS_H
#define FORETRACE_IR_RANKS_BLOCKTASKS_H

#include "ir/model/Program.h"

namespace foretrace::ir {

/// Where a value of a block comes from.
struct TaskSource {
  enum class Kind : unsigned char {
    Op,             ///< a task of this block
    Input,          ///< the block before, as an output
    OutputGradient, ///< the block after, as a gradient of an input
  };
  Kind From;
  unsigned Index; ///< of the op, or of the place in the signature
};
using TaskSources = llvm::SmallVector<TaskSource, 2>;

/// The plan of a block; it grows with its ops only.
class BlockTasks {
public:
  BlockTasks(const Program &P, const Block &B);

  const Block &block() const { return B; }
  /// Tasks of a step, whole or half.
  int64_t count(ActionKind Step) const { return Counts[index(Step)]; }
  /// Tasks of an op: none for a view, or a collective of one rank; a message
  /// each way for each step of a ring.
  int64_t width(OpId Of) const { return Widths[Of]; }
  /// The action that runs an op.
  ActionKind action(OpId Of) const { return Actions[Of]; }
  /// The number of an op's first task in a step that runs it, from 0.
  int64_t first(OpId Of, ActionKind Step) const {
    return Firsts[Of][index(Step)];
  }
  /// Tasks that make a value; none of what is there from the start: parameters,
  /// what the data loader reads, gradients that a step finds.
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
  Table<ValueId, TaskSources> Sources;
  PerAction Counts = {};
};

} // namespace foretrace::ir

#endif
