// SPDX-License-Identifier: Apache-2.0
//
// Rows of a table, for people and for programs: every table that is printed,
// and what `format` says of it.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/raw_ostream.h"
#include <string>
#include <vector>

namespace foretrace {

/// How rows are shown: what `format` says.
enum class RowFormat : unsigned char { Table, JSON, CSV, Markdown };
/// By format.
inline constexpr llvm::StringRef RowFormats[] = {"table", "json", "csv", "md"};

/// Returns whether numbers are exact, without units.
constexpr bool isForPrograms(RowFormat F) {
  return F == RowFormat::JSON || F == RowFormat::CSV;
}

struct RowColumn {
  std::string Name;             ///< for people with blanks: `leave_node`
  bool IsNumber = false;        ///< to the right; of objects, null if empty
  size_t Width = 0;             ///< for people; wider cells push the rest aside
  llvm::StringRef After = "  "; ///< for people, between it and the next one
};

/// Writes rows one by one: a table in columns, an object per line, RFC 4180
/// with the usual line ends, or a table of Markdown.
class RowWriter {
public:
  /// Writes the column names: for people if \p HasHead; objects have the names
  /// in each row instead.
  RowWriter(std::vector<RowColumn> Columns, RowFormat As, llvm::raw_ostream &OS,
            bool HasHead = true);

  /// A cell for each column.
  void write(llvm::ArrayRef<std::string> Row);

private:
  void writeAligned(llvm::ArrayRef<std::string> Row);
  void writeObject(llvm::ArrayRef<std::string> Row);
  void writeMarkdown(llvm::ArrayRef<std::string> Row);

  const std::vector<RowColumn> Columns;
  const RowFormat As;
  llvm::raw_ostream &OS;
};

/// All \p Rows, in columns that are as wide as their cells.
void writeRows(std::vector<RowColumn> Columns,
               llvm::ArrayRef<std::vector<std::string>> Rows, RowFormat As,
               llvm::raw_ostream &OS);

/// Writes a line of CSV; quotes fields with a comma, a quote or a line break.
void writeFields(llvm::ArrayRef<std::string> Fields, llvm::raw_ostream &OS);

} // namespace foretrace
