// SPDX-License-Identifier: Apache-2.0
//
// The per-rank operation trace of an instrumented Megatron-LM: one line for
// each thing a rank did, with the calls logged within it. Lines are values here
// and become text in Trace.cpp alone.
#pragma once

#include "ir/model/Program.h"
#include "ir/model/Ranks.h"
#include "lang/Source.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdint>
#include <optional>
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

enum class RowKind : unsigned char {
#define ROW_KIND(ENUMERATOR, NAME) ENUMERATOR,
#include "backends/megatron/RowKinds.def"
};
inline constexpr unsigned NumRowKinds = 0
#define ROW_KIND(ENUMERATOR, NAME) +1
#include "backends/megatron/RowKinds.def"
    ;
llvm::StringRef getName(RowKind K);
std::optional<RowKind> findRowKind(llvm::StringRef Name);

enum class RowState : unsigned char {
#define ROW_STATE(ENUMERATOR, NAME) ENUMERATOR,
#include "backends/megatron/RowStates.def"
};
llvm::StringRef getName(RowState S);

enum class GroupKind : unsigned char {
#define GROUP_KIND(ENUMERATOR, KIND, GROUP) ENUMERATOR,
#include "backends/megatron/GroupKinds.def"
};
llvm::StringRef getName(GroupKind K);
std::optional<GroupKind> findGroupKind(llvm::StringRef Name);
/// The row of ir/model/Groups.def with this name, which must exist.
const ir::ProcessGroup &processGroup(llvm::StringRef Name);
/// Returns the members of a group of that kind.
const ir::ProcessGroup &processGroup(GroupKind K);

/// Returns the name of a collective in `comm_func`.
llvm::StringRef commName(ir::OpKind Collective);
/// Returns a type as Python prints it: "torch.bfloat16".
llvm::StringRef torchType(ir::ElementType T);

/// The size of a dimension on one rank: a number, or R, the rows that a router
/// happens to send to it.
class Extent {
public:
  Extent(int64_t Size) : Size(Size) {}
  Extent(ir::Expr Size) : Size(Size.value()), From(Size) {}
  static Extent received() { return Extent(); }

  bool isReceived() const { return Size < 0; }
  /// Returns the size, which must be a number.
  int64_t size() const { return Size; }
  /// Its expression; invalid for a number without one.
  ir::ExprId from() const { return From; }

private:
  Extent() : Size(-1) {}
  int64_t Size;
  ir::ExprId From = {};
};
using Extents = llvm::SmallVector<Extent, 4>;

/// A tensor as a rank logs it.
struct LoggedTensor {
  megatron::Extents Extents;
  ir::ElementType Element = ir::ElementType::BF16;

  /// Elements, if a router sends \p Received rows.
  Elements elements(int64_t Received) const;
  /// Returns whether a router decides its number of rows.
  bool isReceived() const;
};
/// Returns a shape as Python prints it: "[R, 4096]".
std::string printShape(const Extents &E);

/// A call logged within a row.
struct SubOperation {
  llvm::StringRef Function; ///< trace_src_func; a literal
  llvm::StringRef Name;     ///< func_name, a literal; left out if empty
  LoggedTensor Tensor;
  GroupKind Group;               ///< as it is logged
  const ir::ProcessGroup *Ranks; ///< that take part
  ir::OpKind Comm;               ///< a collective
  const ir::Op *Of = nullptr;    ///< that the call is of; null if of none

  /// Source of the call in the job.
  SourceRange why() const { return Of ? Of->Origin.Range : SourceRange(); }
};

/// A collective that happens within a row and is not logged as a call of it.
struct Transfer {
  ir::OpKind Kind;
  Bytes Size;      ///< its message, see ir::messageBytes
  int64_t Ranks;   ///< that take part
  GroupKind Group; ///< as traces call them
  const ir::Op *Of;
};

/// Fields shared by rows of one kind on a stage.
struct RowBody {
  RowKind Kind = RowKind::GetBatch;
  llvm::StringRef Description = {}; ///< a literal; `None` if empty
  std::optional<GroupKind> Group = {};
  std::optional<LoggedTensor> Tensor = {};
  std::vector<SubOperation> SubOperations = {};
  RowState State = RowState::None; ///< of rows that no schedule places
  SourceRange Why = {};            ///< what of the job the row comes from
  Elements Gradients = {};         ///< that are scaled to be reduced
  std::vector<Transfer> Transfers = {};

  /// Returns whether it is a row of gradients.
  bool reduces() const { return Group && Gradients != Elements(); }
};

/// One line.
struct TraceRow {
  const RowBody *Body;
  int64_t Stage;
  int64_t Batch; ///< rows of that kind before, in this iteration
  int64_t Chunk; ///< -1 where stages have one
  RowState State;
  ir::Action From; ///< of the schedule
};

/// When a row happens, in ns; a plan without costs does not know.
struct RowTimes {
  int64_t Duration, End;
  /// Durations and ends of its calls, in order; empty if it has none.
  std::vector<std::pair<int64_t, int64_t>> Calls;
};

/// Writes \p R as ranks log it, but for the `rank:N` that it begins with.
/// Without \p Times durations and timestamps are `None`.
void writeRow(const TraceRow &R, const RowTimes *Times, llvm::raw_ostream &OS);

} // namespace foretrace::megatron
