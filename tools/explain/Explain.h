// SPDX-License-Identifier: Apache-2.0
//
// Traces numbers of a job back to their source. Nothing is emitted and nothing
// is computed again: expressions and origins are those that the passes and
// analysis/ made, and backends locate the cells that they write. The programs
// have all facts; an error about an unknown name lists the known ones.
#pragma once

#include "analysis/Derivation.h"
#include "backends/Backend.h"
#include "llvm/Support/Error.h"

namespace foretrace::explain {

/// A question: one of the members that are set, and what selects among it.
struct Query {
  std::string Op, Parameter; ///< names
  bool Memory = false, Messages = false, Work = false;
  std::string Backend; ///< whose output has the cell
  CellQuery Cell;      ///< of that output; else a stage alone

  /// Returns whether no member is set.
  bool isEmpty() const;
};

/// Returns the backends that Query::Backend can name and that have cells which
/// one of the choices \p By selects.
std::vector<llvm::StringRef> explainedBackends(unsigned By = ~0U);

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

/// Explains the memory of the stages, or only of stage \p Stage.
llvm::Expected<Subjects> explainMemory(const ir::Program &P,
                                       std::optional<int64_t> Stage);
/// Explains the parameters that a rank of the stages stores, and its work in an
/// iteration.
llvm::Expected<Subjects> explainWork(const ir::Program &P,
                                     std::optional<int64_t> Stage);
/// Explains the bytes that the stages send in an iteration.
llvm::Expected<Subjects> explainMessages(const ir::Program &P,
                                         std::optional<int64_t> Stage);

} // namespace foretrace::explain
