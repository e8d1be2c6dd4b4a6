// SPDX-License-Identifier: Apache-2.0
//
// Where the numbers of a job come from. Nothing is emitted and nothing derived
// again: expressions and origins are those that the passes left in the program.
// The programs here have all facts; an error names what there is instead.
#ifndef FORETRACE_TOOLS_EXPLAIN_EXPLAIN_H
#define FORETRACE_TOOLS_EXPLAIN_EXPLAIN_H

#include "tools/explain/Figure.h"
#include "llvm/Support/Error.h"

namespace foretrace::explain {

using Subjects = std::vector<Subject>;

/// What is asked for: one thing, and which one of that is meant.
struct Query {
  std::string Op, Parameter; ///< names
  bool Memory = false, Messages = false, Work = false;
  std::string Backend;              ///< whose row, node or figure
  std::optional<int64_t> Row, Node; ///< of what it writes
  std::optional<int64_t> Stage, Rank;
  std::optional<std::string> Cell; ///< `model_flops`, `stages/0/forward`

  /// Whether nothing is.
  bool isEmpty() const;
};

/// The backends that Query::Backend can be.
std::vector<llvm::StringRef> explainedBackends();

/// Answers \p Asked.
llvm::Expected<Subjects> explain(const ir::Program &P, const Query &Asked);

/// The ops called \p Name, and the collectives that they need: results,
/// message, FLOPs, bytes touched. `linear_qkv`, in one block
/// `layer/linear_qkv`, of one phase `layer/linear_qkv/backward`.
llvm::Expected<Subjects> explainOps(const ir::Program &P, llvm::StringRef Name);

/// The parameters called \p Name, `linear_qkv.weight` or
/// `layer/linear_qkv.weight`: elements and bytes of one rank.
llvm::Expected<Subjects> explainParameters(const ir::Program &P,
                                           llvm::StringRef Name);

/// Row \p Row, from 1, of the table that `emit simai` writes of stage \p Stage,
/// or of the stage that the block says: the collective in each column.
llvm::Expected<Subjects> explainSimaiRow(const ir::Program &P, int64_t Row,
                                         std::optional<int64_t> Stage);

/// Row \p Row, from 1, of the trace skeleton of \p Rank, as the first
/// `emit megatron` says it: the row, its calls, and what it moves without one.
llvm::Expected<Subjects> explainMegatronRow(const ir::Program &P, int64_t Rank,
                                            int64_t Row);

/// Node \p Node of the Chakra trace of \p Rank: bytes of what communicates,
/// FLOPs and bytes of what computes.
llvm::Expected<Subjects> explainChakraNode(const ir::Program &P, int64_t Rank,
                                           int64_t Node);

/// Row \p Row, from 1, of the first table of `plan`: what a chunk weighs and
/// sends. The row after the last is how even the stages are.
llvm::Expected<Subjects> explainPlanRow(const ir::Program &P, int64_t Row);

/// The figure that the first `emit` block of \p Backend, which writes figures,
/// calls \p Asked: the key of one, or `TABLE/ROW/COLUMN`, where a row is what
/// its first cell says, or a number from 0.
llvm::Expected<Subjects> explainFigure(const ir::Program &P,
                                       llvm::StringRef Backend,
                                       llvm::StringRef Asked);

/// Task \p Node of \p Rank in the GOAL schedule, as the first `emit goal` says
/// it: the message that its operations move, or what it computes.
llvm::Expected<Subjects> explainGoalTask(const ir::Program &P, int64_t Rank,
                                         int64_t Node);

/// What the stages hold of memory, or only stage \p Stage.
llvm::Expected<Subjects> explainMemory(const ir::Program &P,
                                       std::optional<int64_t> Stage);
/// How many parameters a rank of them stores, and what it computes in an
/// iteration.
llvm::Expected<Subjects> explainWork(const ir::Program &P,
                                     std::optional<int64_t> Stage);
/// What they send in an iteration.
llvm::Expected<Subjects> explainMessages(const ir::Program &P,
                                         std::optional<int64_t> Stage);

} // namespace foretrace::explain

#endif
