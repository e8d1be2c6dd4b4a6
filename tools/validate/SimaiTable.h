// SPDX-License-Identifier: Apache-2.0
//
// A workload table as rows of numbers and words; what can't be read as such is
// reported.
#pragma once

#include "backends/simai/Table.h"
#include "ir/model/Mesh.h"
#include "tools/validate/SimaiHeader.h"
#include <array>

namespace foretrace::validate {

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

  /// As it is written, `ALLTOALL_EP`.
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
  /// One that can be read; not of the others.
  virtual void row(const TableHeader &, const TableRow &, const Place &) = 0;
};

/// Reads \p Text, the table at \p Path.
void readTable(llvm::StringRef Text, llvm::StringRef Path, Findings &Out,
               TableVisitor &Visitor);

} // namespace foretrace::validate
