// SPDX-License-Identifier: Apache-2.0
#include "tools/validate/SimaiCheck.h"
#include "backends/simai/Table.h"
#include "tools/validate/SimaiHeader.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace foretrace::validate {

namespace {

constexpr StringRef CommWords[] = {
#define COMM(ENUMERATOR, WORD) WORD,
#include "backends/simai/Comms.def"
};
constexpr StringRef Suffixes[] = {
#define GROUP(ENUMERATOR, SUFFIX) SUFFIX,
#include "backends/simai/Comms.def"
};
constexpr StringRef NoComm = "NONE";
constexpr StringRef Experts = "_EP", ExpertData = "_DP_EP";

/// The three columns of a row, each a time, a communication and a size.
constexpr StringRef Columns[] = {"forward", "backward", "weight-gradient"};
constexpr size_t WeightGradient = 2;
constexpr size_t FirstCell = 2, CellFields = 3, UpdateTime = 11;

class TableChecker {
public:
  TableChecker(StringRef Path, Findings &Out) : Path(Path), Out(Out) {}

  std::string run(StringRef Text);

private:
  void takeCount(const TableLine &Line);
  void takeRow(const TableLine &Line);
  void takeCell(ArrayRef<StringRef> Cell, size_t Column);
  /// Reports what \p Field, \p What, is instead of a number.
  std::optional<uint64_t> readField(StringRef What, StringRef Field);
  void checkTime(StringRef What, StringRef Field);
  /// The suffix of \p Word, if it is a communication of a group.
  std::optional<StringRef> checkWord(StringRef Word);
  void checkMessage(StringRef Word, StringRef Suffix, uint64_t Size,
                    size_t Column);
  void finish();

  StringRef Path;
  Findings &Out;
  Place At;
  TableHeader Header;
  std::optional<uint64_t> Declared;
  int64_t Rows = 0;
  Bytes Total;
};

void TableChecker::takeCount(const TableLine &Line) {
  uint64_t Count = 0;
  if (Line.Fields.size() != 1 || Line.Fields.front().getAsInteger(10, Count) ||
      Count >= uint64_t(simai::ReaderLimit)) {
    Out.report(At, diag::TableCount, join(Line.Fields, " "));
    return;
  }
  Declared = Count;
}

std::optional<uint64_t> TableChecker::readField(StringRef What,
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

void TableChecker::checkTime(StringRef What, StringRef Field) {
  const std::optional<uint64_t> Time = readField(What, Field);
  if (Time && *Time >= uint64_t(simai::ReaderLimit))
    Out.report(At, diag::TableTimeLimit, What, *Time);
}

std::optional<StringRef> TableChecker::checkWord(StringRef Word) {
  if (Word == NoComm)
    return std::nullopt;
  for (StringRef Known : CommWords) {
    if (Known == NoComm || !Word.starts_with(Known))
      continue;
    const StringRef Suffix = Word.drop_front(Known.size());
    if (is_contained(Suffixes, Suffix))
      return Suffix;
    Out.report(At, diag::TableCommSuffix, Word,
               join(drop_begin(Suffixes), ", "));
    return std::nullopt;
  }
  Out.report(At, diag::TableCommWord, Word, join(ArrayRef(CommWords), ", "));
  return std::nullopt;
}

/// Ranks of the group of a message, as the simulator makes it.
static int64_t groupSize(const TableHeader &H, StringRef Suffix,
                         size_t Column) {
  if (Column == WeightGradient)
    return Suffix == ExpertData ? H.dp() / H.Ep : H.dp();
  return Suffix == Experts ? H.Ep : H.Tp;
}

void TableChecker::checkMessage(StringRef Word, StringRef Suffix, uint64_t Size,
                                size_t Column) {
  constexpr uint64_t MiB = uint64_t(1) << 20;
  constexpr int64_t LargestPriced = 128;
  if (Suffix == (Column == WeightGradient ? Experts : ExpertData))
    Out.report(At, diag::TableSuffixColumn, Word, Columns[Column]);
  if (Size == 0)
    Out.report(At, diag::TableNoBytes, Word);
  if (!Header.HasMesh || Size < 2)
    return;
  const int64_t Ranks = groupSize(Header, Suffix, Column);
  if (Size >= MiB && Ranks == 1)
    Out.report(At, diag::TableGroupOfOne, Word, Size);
  if (Size < MiB && Ranks > 1 &&
      (Ranks > LargestPriced || !isPowerOf2_64(Ranks)))
    Out.report(At, diag::TableFreeMessage, Word, Size, Ranks);
}

void TableChecker::takeCell(ArrayRef<StringRef> Cell, size_t Column) {
  checkTime(("the " + Columns[Column] + " time").str(), Cell[0]);
  const std::optional<StringRef> Suffix = checkWord(Cell[1]);
  const std::optional<uint64_t> Size =
      readField(("the " + Columns[Column] + " size").str(), Cell[2]);
  if (!Size)
    return;
  if (Suffix) {
    Total += *Size <= INT64_MAX ? Bytes(static_cast<int64_t>(*Size))
                                : Bytes::overflow();
    checkMessage(Cell[1], *Suffix, *Size, Column);
  } else if (Cell[1] == NoComm && *Size > 0) {
    Out.report(At, diag::TableNoneSize, *Size);
  }
}

/// Whether the fields after the first look like a row's after its name.
static bool isNameSplit(ArrayRef<StringRef> Fields, size_t Expected) {
  return Fields.size() > Expected &&
         readNumber(Fields[1]).Is == TableNumber::Form::Malformed;
}

void TableChecker::takeRow(const TableLine &Line) {
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
  (void)readField("the dependence", Dependence);
  for (size_t C = 0; C != std::size(Columns); ++C)
    takeCell(Fields.slice(FirstCell + C * CellFields, CellFields), C);
  checkTime("the update time", Fields[UpdateTime]);
}

void TableChecker::finish() {
  At = {Path.str(), 2, {}};
  if (Declared && *Declared > uint64_t(Rows))
    Out.report(At, diag::TableRowsMissing, *Declared, Rows);
  if (Declared && *Declared < uint64_t(Rows))
    Out.report(At, diag::TableRowsBeyond, *Declared, Rows);
}

std::string TableChecker::run(StringRef Text) {
  SimaiReader Lines(Text);
  At = {Path.str(), 1, {}};
  if (const TableLine *Line = Lines.next())
    Header = checkHeader(*Line, Path, Out);
  else
    Out.report(At, diag::TableEmpty, "header");
  At.Line = 2;
  if (const TableLine *Line = Lines.next())
    takeCount(*Line);
  else
    Out.report(At, diag::TableEmpty, "number of rows");
  while (const TableLine *Line = Lines.next()) {
    At.Line = Line->Number;
    takeRow(*Line);
  }
  finish();
  std::string Mesh;
  if (Header.HasMesh)
    Mesh = formatv(", {0} ranks (tp {1}, ep {2}, pp {3})", Header.World,
                   Header.Tp, Header.Ep, Header.Pp);
  return formatv("workload table: {0} rows{1}, {2} bytes", Rows, Mesh,
                 Total.isOverflow() ? "2^63 or more"
                                    : std::to_string(Total.value()));
}

} // namespace

std::string checkTable(StringRef Text, StringRef Path, Findings &Out) {
  return TableChecker(Path, Out).run(Text);
}

} // namespace foretrace::validate
