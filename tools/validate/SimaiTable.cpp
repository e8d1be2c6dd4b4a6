// SPDX-License-Identifier: Apache-2.0
#include "tools/validate/SimaiTable.h"
#include "backends/simai/Table.h"
#include "lang/diagnostics/Validate.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace foretrace::validate {

namespace {

/// Where the columns are: each a time, a communication and a size.
constexpr size_t FirstCell = 2, CellFields = 3, UpdateTime = 11;

class TableReader {
public:
  TableReader(StringRef Path, Findings &Out, TableVisitor &Visitor)
      : Out(Out), Visitor(Visitor), At{Path.str(), 1, {}} {}

  void run(StringRef Text);

private:
  void takeCount(const TableLine &Line);
  void takeRow(const TableLine &Line);
  /// Reports what \p Field, \p What, is instead of a number.
  std::optional<uint64_t> readField(StringRef What, StringRef Field);
  bool readWord(StringRef Word, TableCell &Into);
  bool readCell(ArrayRef<StringRef> Fields, StringRef Column, TableCell &Into);

  Findings &Out;
  TableVisitor &Visitor;
  Place At;
  TableHeader Header;
  std::optional<uint64_t> Declared;
  uint64_t Rows = 0;
};

} // namespace

std::string TableCell::word() const {
  return (simai::CommWords[static_cast<size_t>(Comm)] +
          simai::GroupSuffixes[static_cast<size_t>(Group)])
      .str();
}

StringRef getName(TableColumn C) {
  static constexpr StringRef Names[] = {"forward", "backward",
                                        "weight-gradient"};
  return Names[static_cast<size_t>(C)];
}

ir::Axis axisOf(simai::CellGroup G, TableColumn Column) {
  if (Column == TableColumn::WeightGradient)
    return G == simai::CellGroup::ExpertData ? ir::Axis::Edp : ir::Axis::Dp;
  return G == simai::CellGroup::Expert ? ir::Axis::Ep : ir::Axis::Tp;
}

void TableReader::takeCount(const TableLine &Line) {
  uint64_t Count = 0;
  if (Line.Fields.size() != 1 || Line.Fields.front().getAsInteger(10, Count) ||
      Count >= uint64_t(simai::ReaderLimit)) {
    Out.report(At, diag::TableCount, join(Line.Fields, " "));
    return;
  }
  Declared = Count;
}

std::optional<uint64_t> TableReader::readField(StringRef What,
                                               StringRef Field) {
  const TableNumber N = readNumber(Field);
  switch (N.Is) {
  case TableNumber::Form::Integer:
    return N.Value;
  case TableNumber::Form::Negative:
    Out.report(At, diag::TableNegative, What, Field);
    return std::nullopt;
  case TableNumber::Form::Overflow:
    Out.report(At, diag::TableOverflow, What, Field);
    return std::nullopt;
  case TableNumber::Form::Malformed:
    Out.report(At, diag::TableInteger, What, Field);
    return std::nullopt;
  }
  llvm_unreachable("every form is handled");
}

bool TableReader::readWord(StringRef Word, TableCell &Into) {
  for (const auto &[Comm, Known] : enumerate(simai::CommWords)) {
    const auto Index = static_cast<simai::Comm>(Comm);
    if (Word == Known) {
      Into.Comm = Index;
      return true;
    }
    if (Index == simai::Comm::None || !Word.starts_with(Known))
      continue;
    const auto *Suffix =
        find(simai::GroupSuffixes, Word.drop_front(Known.size()));
    if (Suffix == std::end(simai::GroupSuffixes)) {
      Out.report(At, diag::TableCommSuffix, Word,
                 join(drop_begin(simai::GroupSuffixes), ", "));
      return false;
    }
    Into.Comm = Index;
    Into.Group = static_cast<simai::CellGroup>(Suffix - simai::GroupSuffixes);
    return true;
  }
  Out.report(At, diag::TableCommWord, Word,
             join(ArrayRef(simai::CommWords), ", "));
  return false;
}

bool TableReader::readCell(ArrayRef<StringRef> Fields, StringRef Column,
                           TableCell &Into) {
  const auto Time = readField(("the " + Column + " time").str(), Fields[0]);
  const bool HasWord = readWord(Fields[1], Into);
  const auto Size = readField(("the " + Column + " size").str(), Fields[2]);
  Into.Time = Time.value_or(0);
  Into.Size = Size.value_or(0);
  return Time && HasWord && Size;
}

/// Returns whether the fields after the first look like a row's after its name.
static bool isNameSplit(ArrayRef<StringRef> Fields, size_t Expected) {
  return Fields.size() > Expected &&
         readNumber(Fields[1]).Is == TableNumber::Form::Malformed;
}

void TableReader::takeRow(const TableLine &Line) {
  const ArrayRef<StringRef> Fields = Line.Fields;
  if (Fields.front().starts_with("#") || Fields.front().starts_with("//")) {
    Out.report(At, diag::TableComment);
    return;
  }
  ++Rows;
  if (Fields.size() != Header.Fields) {
    if (isNameSplit(Fields, Header.Fields))
      Out.report(At, diag::TableNameBlank,
                 join(Fields.drop_back(Header.Fields - 1), " "));
    else
      Out.report(At, diag::TableFields, Fields.size(), Header.Fields);
    return;
  }
  StringRef Dependence = Fields[1];
  Dependence.consume_front("-");
  bool IsGood = readField("the dependence", Dependence).has_value();
  TableRow Row;
  Row.Name = Fields.front();
  for (const auto &[C, Cell] : enumerate(Row.Cells))
    IsGood &= readCell(Fields.slice(FirstCell + C * CellFields, CellFields),
                       getName(static_cast<TableColumn>(C)), Cell);
  const auto Update = readField("the update time", Fields[UpdateTime]);
  Row.Update = Update.value_or(0);
  if (IsGood && Update)
    Visitor.row(Header, Row, At);
}

void TableReader::run(StringRef Text) {
  SimaiReader Lines(Text);
  if (const TableLine *Line = Lines.next())
    Header = checkHeader(*Line, At.Path, Out);
  else
    Out.report(At, diag::TableEmpty, "header");
  Visitor.header(Header, At);
  At.Line = 2;
  if (const TableLine *Line = Lines.next())
    takeCount(*Line);
  else
    Out.report(At, diag::TableEmpty, "number of rows");
  while (const TableLine *Line = Lines.next()) {
    At.Line = Line->Number;
    takeRow(*Line);
  }
  At.Line = 2;
  if (Declared && *Declared > Rows)
    Out.report(At, diag::TableRowsMissing, *Declared, Rows);
  if (Declared && *Declared < Rows)
    Out.report(At, diag::TableRowsBeyond, *Declared, Rows);
}

void readTable(StringRef Text, StringRef Path, Findings &Out,
               TableVisitor &Visitor) {
  TableReader(Path, Out, Visitor).run(Text);
}

} // namespace foretrace::validate
