// SPDX-License-Identifier: Apache-2.0
#include "tools/validate/SimaiCheck.h"
#include "backends/figures/Figures.h"
#include "lang/diagnostics/Validate.h"
#include "tools/validate/SimaiTable.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;

namespace foretrace::validate {

namespace {

/// Checks a table as far as the simulator can read it.
class TableChecker : public TableVisitor {
public:
  explicit TableChecker(Findings &Out) : Out(Out) {}

  void header(const TableHeader &H, const Place &At) override;
  void row(const TableHeader &H, const TableRow &Row, const Place &At) override;
  /// Returns the contents in one line.
  std::string summary(bool IsExact) const;

private:
  void checkTime(const Twine &What, uint64_t Time, const Place &At);
  void checkMessage(const TableCell &Cell, TableColumn Column, const Place &At);

  Findings &Out;
  TableHeader Header;
  int64_t Rows = 0;
  Bytes Total;
};

} // namespace

void TableChecker::header(const TableHeader &H, const Place &At) {
  Header = H;
  for (StringRef Key : H.Missing)
    Out.report(At, diag::TableMissingKey, Key);
}

void TableChecker::checkTime(const Twine &What, uint64_t Time,
                             const Place &At) {
  if (Time >= uint64_t(simai::ReaderLimit))
    Out.report(At, diag::TableTimeLimit, What.str(), Time);
}

void TableChecker::checkMessage(const TableCell &Cell, TableColumn Column,
                                const Place &At) {
  constexpr uint64_t MiB = uint64_t(1) << 20;
  constexpr int64_t LargestPriced = 128;
  const simai::CellGroup Unpriced = Column == TableColumn::WeightGradient
                                        ? simai::CellGroup::Expert
                                        : simai::CellGroup::ExpertData;
  if (Cell.Group == Unpriced)
    Out.report(At, diag::TableSuffixColumn, Cell.word(), getName(Column));
  if (Cell.Size == 0)
    Out.report(At, diag::TableNoBytes, Cell.word());
  if (!Header.HasMesh || Cell.Size < 2)
    return;
  const int64_t Ranks = Header.mesh()[axisOf(Cell.Group, Column)];
  if (Cell.Size >= MiB && Ranks == 1)
    Out.report(At, diag::TableGroupOfOne, Cell.word(), Cell.Size);
  if (Cell.Size < MiB && Ranks > 1 &&
      (Ranks > LargestPriced || !isPowerOf2_64(Ranks)))
    Out.report(At, diag::TableFreeMessage, Cell.word(), Cell.Size, Ranks);
}

void TableChecker::row(const TableHeader &, const TableRow &Row,
                       const Place &At) {
  ++Rows;
  for (const auto &[C, Cell] : enumerate(Row.Cells)) {
    const auto Column = static_cast<TableColumn>(C);
    checkTime("the " + getName(Column) + " time", Cell.Time, At);
    if (Cell.Comm == simai::Comm::None) {
      if (Cell.Size > 0)
        Out.report(At, diag::TableNoneSize, Cell.Size);
      continue;
    }
    Total += Cell.Size <= INT64_MAX ? Bytes(static_cast<int64_t>(Cell.Size))
                                    : Bytes::overflow();
    checkMessage(Cell, Column, At);
  }
  checkTime("the update time", Row.Update, At);
}

std::string TableChecker::summary(bool IsExact) const {
  std::string Mesh;
  if (Header.HasMesh)
    Mesh = formatv(", {0} ranks (tp {1}, ep {2}, pp {3})", Header.World,
                   Header.Tp, Header.Ep, Header.Pp);
  return formatv("workload table: {0} rows{1}, {2}", Rows, Mesh,
                 Total.isOverflow()
                     ? "2^63 bytes or more"
                     : describe(Total.value(), FigureUnit::Bytes, IsExact));
}

std::string checkTable(StringRef Text, StringRef Path, bool IsExact,
                       Findings &Out) {
  TableChecker Checker(Out);
  readTable(Text, Path, Out, Checker);
  return Checker.summary(IsExact);
}

} // namespace foretrace::validate
