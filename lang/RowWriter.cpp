// SPDX-License-Identifier: Apache-2.0
#include "lang/RowWriter.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/JSON.h"

using namespace foretrace;
using llvm::raw_ostream;
using llvm::StringRef;

using Cells = llvm::ArrayRef<std::string>;

static std::string titleOf(const RowColumn &C) {
  std::string Title = C.Name;
  std::replace(Title.begin(), Title.end(), '_', ' ');
  return Title;
}

RowWriter::RowWriter(std::vector<RowColumn> Of, RowFormat As, raw_ostream &OS,
                     bool HasHead)
    : Columns(std::move(Of)), As(As), OS(OS) {
  if (As == RowFormat::JSON || (As == RowFormat::Table && !HasHead))
    return;
  std::vector<std::string> Head;
  for (const RowColumn &C : Columns)
    Head.push_back(As == RowFormat::CSV ? C.Name : titleOf(C));
  write(Head);
  if (As != RowFormat::Markdown)
    return;
  for (const RowColumn &C : Columns)
    OS << (C.IsNumber ? "|--:" : "|---");
  OS << "|\n";
}

void RowWriter::write(Cells Row) {
  assert(Row.size() == Columns.size() && "a cell for each column");
  switch (As) {
  case RowFormat::Table:
    return writeAligned(Row);
  case RowFormat::JSON:
    return writeObject(Row);
  case RowFormat::CSV:
    return writeFields(Row, OS);
  case RowFormat::Markdown:
    return writeMarkdown(Row);
  }
  llvm_unreachable("every format is handled");
}

/// Lines have no trailing blanks.
void RowWriter::writeAligned(Cells Row) {
  std::string Line;
  StringRef Between = "";
  for (const auto &[C, Cell] : llvm::zip_equal(Columns, Row)) {
    const std::string Blanks(C.Width - std::min(C.Width, Cell.size()), ' ');
    Line += Between;
    Line += C.IsNumber ? Blanks + Cell : Cell + Blanks;
    Between = C.After;
  }
  OS << StringRef(Line).rtrim(' ') << '\n';
}

void RowWriter::writeObject(Cells Row) {
  llvm::json::OStream J(OS);
  J.object([&] {
    for (const auto &[C, Cell] : llvm::zip_equal(Columns, Row)) {
      if (!C.IsNumber) {
        J.attribute(C.Name, llvm::json::fixUTF8(Cell));
        continue;
      }
      J.attributeBegin(C.Name); // it may be more than JSON's library holds
      J.rawValue(Cell.empty() ? "null" : Cell);
      J.attributeEnd();
    }
  });
  OS << '\n';
}

/// A bar or a line break would end the cell.
void RowWriter::writeMarkdown(Cells Row) {
  for (const std::string &Cell : Row) {
    OS << "| ";
    for (const char C : Cell)
      OS << (C == '|' ? "\\|" : C == '\n' ? "<br>" : StringRef(&C, 1));
    OS << ' ';
  }
  OS << "|\n";
}

void foretrace::writeRows(std::vector<RowColumn> Columns,
                          llvm::ArrayRef<std::vector<std::string>> Rows,
                          RowFormat As, raw_ostream &OS) {
  for (const auto &[I, C] : llvm::enumerate(Columns)) {
    C.Width = C.Name.size();
    for (const std::vector<std::string> &Row : Rows)
      C.Width = std::max(C.Width, Row[I].size());
  }
  RowWriter Writer(std::move(Columns), As, OS);
  for (const std::vector<std::string> &Row : Rows)
    Writer.write(Row);
}

static void writeField(StringRef Text, raw_ostream &OS) {
  if (Text.find_first_of(",\"\r\n") == StringRef::npos) {
    OS << Text;
    return;
  }
  OS << '"';
  for (const char C : Text)
    OS << (C == '"' ? "\"\"" : StringRef(&C, 1));
  OS << '"';
}

void foretrace::writeFields(Cells Fields, raw_ostream &OS) {
  llvm::interleave(
      Fields, OS, [&](const std::string &F) { writeField(F, OS); }, ",");
  OS << '\n';
}
