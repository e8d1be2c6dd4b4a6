// SPDX-License-Identifier: Apache-2.0
//
// A workload table as rows of numbers and words; what can't be read as such is
// reported.
#pragma once

#include "backends/simai/Table.h"
#include "ir/model/Mesh.h"
#include "tools/validate/Findings.h"
#include "tools/validate/SimaiReader.h"
#include <array>

namespace foretrace::validate {

/// The first line: the policy and, of policies for transformers, their keys.
/// Groups have sizes only if all keys are present and in range.
struct TableHeader {
  bool HasMesh = false; ///< tp, ep, pp and the number of ranks are known
  int64_t Tp = 1, Ep = 1, Pp = 1, World = 1;
  size_t Fields = 12;      ///< of a row
  llvm::StringRef Policy;  ///< of the text; empty without one
  bool HasKeys = false;    ///< the policy is one for transformers
  int64_t Checkpoints = 0; ///< rows that are computed again
  int64_t Boundary = 0;    ///< bytes of a message between stages
  /// Keys that are not there, and that only the simulator needs.
  llvm::SmallVector<llvm::StringRef, 2> Missing;

  /// Ranks of the data-parallel group.
  int64_t dp() const { return World / (Tp * Pp); }
  /// The ranks of a stage; only if there is a mesh.
  ir::Mesh mesh() const;
};

/// Reads the header of the table at \p Path and reports what is wrong with it.
TableHeader checkHeader(const TableLine &Line, llvm::StringRef Path,
                        Findings &Out);

enum class TableColumn : unsigned char { Forward, Backward, WeightGradient };
/// `forward`, as messages call it.
llvm::StringRef getName(TableColumn C);

/// The axis along which SimAI's members of a group differ: the suffix of the
/// other column says nothing.
ir::Axis axisOf(simai::CellGroup G, TableColumn Column);

/// One column of a row: a time, and then a message.
struct TableCell {
  uint64_t Time = 0; ///< ns
  simai::Comm Comm = simai::Comm::None;
  simai::CellGroup Group = simai::CellGroup::Column;
  uint64_t Size = 0; ///< bytes, of the whole group

  /// Returns the word as written, `ALLTOALL_EP`.
  std::string word() const;
};

struct TableRow {
  llvm::StringRef Name;           ///< of the text
  std::array<TableCell, 3> Cells; ///< by TableColumn
  uint64_t Update = 0;            ///< ns, after each message
};

/// Receives the contents of a table from its reader.
class TableVisitor {
public:
  virtual ~TableVisitor() = default;
  virtual void header(const TableHeader &, const Place &) {}
  /// Takes a row that can be read; other rows are left out.
  virtual void row(const TableHeader &, const TableRow &, const Place &) = 0;
};

/// Reads \p Text, the table at \p Path.
void readTable(llvm::StringRef Text, llvm::StringRef Path, Findings &Out,
               TableVisitor &Visitor);

} // namespace foretrace::validate
