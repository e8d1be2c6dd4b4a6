// SPDX-License-Identifier: Apache-2.0
//
// The per-rank operation trace of an instrumented Megatron-LM: one line for
// each thing a rank did, with the calls logged within it.
#ifndef FORETRACE_BACKENDS_MEGATRON_TRACE_H
#define FORETRACE_BACKENDS_MEGATRON_TRACE_H

#include "ir/Program.h"
#include "lang/Source.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdint>
#include <string>
#include <vector>

namespace foretrace::megatron {

enum class Dialect : unsigned char {
#define DIALECT(ENUMERATOR, SPELLING, DOC) ENUMERATOR,
#include "backends/megatron/Dialects.def"
};

/// How a trace was made.
struct Instrumentation {
  megatron::Dialect Dialect = megatron::Dialect::V2;
  /// One process played one rank of a larger job, without its neighbours.
  bool Scaling = false;

  bool isV1() const { return Dialect == megatron::Dialect::V1; }
};

/// A call logged within a row. Shapes are written as Python prints lists.
struct SubOperation {
  std::string Function; ///< trace_src_func
  std::string Shape, DType;
  std::string Name; ///< func_name; left out if empty
  std::string Group, Comm;
  SourceRange Why = {}; ///< what of the job the call comes from
};

/// A collective that happens within a row and is not logged as a call of it.
struct Transfer {
  ir::OpKind Kind;
  Bytes Size;                ///< its message, see ir::messageBytes
  int64_t Ranks;             ///< that take part
  llvm::StringRef GroupKind; ///< as traces call them
};

/// What rows of one kind have in common on a stage. Empty text is `None`.
struct RowBody {
  std::string Op;
  std::string Description, GroupKind, Shape, DType;
  std::vector<SubOperation> SubOperations;
  std::string State;       ///< of rows that no schedule places
  SourceRange Why = {};    ///< what of the job the row comes from
  Elements Gradients = {}; ///< that are scaled to be reduced
  std::vector<Transfer> Transfers = {};

  /// Whether it is a row of gradients.
  bool reduces() const { return !GroupKind.empty() && Gradients != Elements(); }
};

/// One line.
struct Row {
  const RowBody *Body;
  int64_t Stage;
  int64_t Batch; ///< rows of that op before, in this iteration
  int64_t Chunk; ///< -1 where stages have one
  llvm::StringRef State;
  ir::Action From; ///< of the schedule
};

/// When a row happens, in ns; a plan without costs does not know.
struct RowTimes {
  int64_t Duration, End;
  /// The same for its calls, in order; empty if it has none.
  std::vector<std::pair<int64_t, int64_t>> Calls;
};

/// Writes \p R as ranks log it, but for the `rank:N` that it begins with.
/// Without \p Times durations and timestamps are `None`.
void writeRow(const Row &R, const RowTimes *Times, llvm::raw_ostream &OS);

} // namespace foretrace::megatron

#endif
