// SPDX-License-Identifier: Apache-2.0
#include "backends/figures/Figures.h"
#include "analysis/Caveats.h"
#include "lang/Library.h"
#include "lang/diagnostics/Backends.h"
#include "lang/diagnostics/Lang.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Path.h"
#include <algorithm>
#include <cmath>
#include <limits>

using namespace foretrace;
using llvm::raw_ostream;
using llvm::StringRef;

Figure::Figure(const ir::ExprTable &Sizes, ir::ExprId Of)
    : Value(static_cast<__int128>(Sizes.value(Of))), From(Of) {
  assert(Sizes.value(Of) != ir::NoValue && "it was checked");
}

std::vector<FigureColumn>
foretrace::columns(std::initializer_list<ColumnGroup> Groups) {
  std::vector<FigureColumn> All;
  for (const ColumnGroup &G : Groups)
    for (const llvm::StringRef Key : llvm::split(G.Keys, ' '))
      All.push_back({Key, G.Unit, G.Title});
  return All;
}

size_t FigureTable::columnOf(llvm::StringRef Key) const {
  const auto It = llvm::find_if(
      Columns, [&](const FigureColumn &C) { return C.Key == Key; });
  assert(It != Columns.end() && "the table has the column");
  return static_cast<size_t>(It - Columns.begin());
}

const FigureTable *Figures::findTable(llvm::StringRef Key) const {
  const auto It =
      llvm::find_if(Tables, [&](const FigureTable &T) { return T.Key == Key; });
  return It == Tables.end() ? nullptr : &*It;
}

const NamedFigure *Figures::find(StringRef Key) const {
  const auto It =
      llvm::find_if(Named, [&](const NamedFigure &F) { return F.Key == Key; });
  return It == Named.end() ? nullptr : &*It;
}

/// The profiles of the library.
static std::string listProfiles() {
  std::vector<StringRef> Names;
  for (const LibraryFile &F : libraryFiles())
    if (llvm::sys::path::parent_path(F.Path) == "devices")
      Names.push_back(llvm::sys::path::stem(F.Path));
  return "`" + llvm::join(Names, "`, `") + "`";
}

bool foretrace::checkEstimate(const EmitRequest &Request, SourceRange At,
                              DiagnosticEngine &Diags) {
  const ir::Spec &S = Request.Program.Spec;
  if (!S.Cluster)
    Diags.report(At, diag::TimeNoCluster);
  else if (!S.Cost.Kind.is(ir::CostKind::Estimate))
    Diags.report(At, diag::TimeNoEstimate, listProfiles());
  else if (isUpdatedByHost(Request.Program))
    Diags.report(Request.Program.Spec.Train.OffloadOptimizer.Range,
                 diag::TimeOffload, describeHostTraffic(Request.Program));
  else if (Request.Figures.iteration().Total.isOverflow())
    Diags.report(At, diag::SizeOverflow, "the time of an iteration");
  else
    return true;
  return false;
}

void foretrace::warnIfExceeded(const EmitRequest &Request,
                               const std::optional<DeviceMemory> &Room,
                               DiagnosticEngine &Diags) {
  if (!Room)
    return;
  const std::optional<std::vector<StagesMemory>> Rows =
      Request.Figures.memories().all();
  if (!Rows)
    return; // no size is known
  const StagesMemory &Most = mostOf(*Rows);
  const int64_t Peak = Most.Of.Peak.value();
  if (!Room->fits(Peak))
    Diags.report(Room->Range, diag::MemoryExceeded, printRange(Most.Stages),
                 describe(Peak, FigureUnit::Bytes),
                 describe(Room->Reserved, FigureUnit::Bytes),
                 describe(Room->Bytes, FigureUnit::Bytes));
}

std::string foretrace::toString(__int128 Number) {
  const bool IsNegative = Number < 0;
  auto Rest = static_cast<unsigned __int128>(Number);
  if (IsNegative)
    Rest = -Rest;
  std::string Digits;
  do
    Digits += static_cast<char>('0' + static_cast<int>(Rest % 10));
  while (Rest /= 10);
  if (IsNegative)
    Digits += '-';
  std::reverse(Digits.begin(), Digits.end());
  return Digits;
}

/// The scales of a unit of which there are several.
static llvm::ArrayRef<NumberScale> scalesOf(FigureUnit U) {
  switch (U) {
  case FigureUnit::LargeCount:
    return countScales();
  case FigureUnit::Bytes:
    return byteScales();
  case FigureUnit::Flops:
    return flopScales();
  case FigureUnit::Time:
    return timeScales();
  case FigureUnit::Text:
  case FigureUnit::Count:
  case FigureUnit::Flag:
  case FigureUnit::Millionths:
  case FigureUnit::HalfRange:
    return {};
  }
  llvm_unreachable("every unit is handled");
}

/// Returns whether it is printed as a percentage.
static bool isShare(FigureUnit U) {
  return U == FigureUnit::Millionths || U == FigureUnit::HalfRange;
}

NumberScale foretrace::scaleOf(FigureUnit U, llvm::ArrayRef<__int128> Column) {
  if (isShare(U))
    return {" %", 1e4, 2};
  const llvm::ArrayRef<NumberScale> Scales = scalesOf(U);
  double Least = std::numeric_limits<double>::max(), Most = 0;
  for (const __int128 Number : Column)
    if (Number > 0) {
      Least = std::min(Least, static_cast<double>(Number));
      Most = std::max(Most, static_cast<double>(Number));
    }
  if (Scales.empty() || Most == 0)
    return {"", 1, 0};
  const NumberScale *In = &scaleFor(Most, Scales);
  const bool IsShort = Most < 10 * In->Of;
  if (IsShort && Least < In->Of / 10 && In != Scales.begin())
    return *std::prev(In);
  NumberScale Found = *In;
  if (IsShort && Found.Decimals != 0)
    Found.Decimals = 3;
  return Found;
}

NumberScale foretrace::exactScaleOf(FigureUnit U) {
  if (isShare(U))
    return {" %", 1e4, 4};
  const llvm::ArrayRef<NumberScale> Scales = scalesOf(U);
  return Scales.empty() ? NumberScale{"", 1, 0} : Scales.front();
}

std::string foretrace::exact(const Figure &F) {
  if (const auto *Words = std::get_if<std::string>(&F.Value))
    return *Words;
  if (const auto *Stages = std::get_if<IndexRange>(&F.Value))
    return printRange(*Stages);
  return toString(F.number());
}

std::string foretrace::scaled(__int128 Number, const NumberScale &In) {
  if (In.Decimals == 0)
    return toString(Number);
  const double Value = static_cast<double>(Number) / In.Of;
  const double Least = std::pow(10, -In.Decimals);
  const bool IsTiny = Number > 0 && Value < Least / 2;
  std::string Text = IsTiny ? "<" : "";
  llvm::raw_string_ostream(Text)
      << llvm::format("%.*f", In.Decimals, IsTiny ? Least : Value);
  return Text;
}

std::string foretrace::describe(const Figure &F, FigureUnit U, bool IsExact) {
  if (!F.isNumber())
    return exact(F);
  if (U == FigureUnit::Flag)
    return F.number() != 0 ? "yes" : "no";
  const llvm::ArrayRef<NumberScale> Scales = scalesOf(U);
  if (!IsExact && !Scales.empty())
    return printScaled(static_cast<double>(F.number()), Scales);
  NumberScale In = exactScaleOf(U);
  if (isShare(U) && !IsExact)
    In.Decimals = 1;
  const std::string Number = scaled(F.number(), In) + In.Suffix.str();
  return U == FigureUnit::HalfRange
             ? (BeforeHalfRange + Number + AfterHalfRange).str()
             : Number;
}

/// Returns the scale in which numbers of a column are shown.
static NumberScale scaleOfColumn(const FigureTable &T, size_t Column,
                                 bool IsExact) {
  const FigureUnit U = T.Columns[Column].Unit;
  if (IsExact)
    return exactScaleOf(U);
  std::vector<__int128> Numbers;
  for (const std::vector<Figure> &Row : T.Rows)
    if (const auto *Number = std::get_if<__int128>(&Row[Column].Value))
      Numbers.push_back(*Number);
  return scaleOf(U, Numbers);
}

void foretrace::writeTable(const FigureTable &T, RowFormat As, bool IsExact,
                           raw_ostream &OS) {
  std::vector<RowColumn> Columns;
  std::vector<std::vector<std::string>> Rows(T.Rows.size());
  for (const auto &[Index, C] : llvm::enumerate(T.Columns)) {
    const NumberScale In = scaleOfColumn(T, Index, IsExact);
    // `on_rank` of bytes is `on_rank GiB`.
    Columns.push_back(
        {(C.heading() + In.Suffix).str(), C.Unit != FigureUnit::Text});
    for (const auto &[Cells, Row] : llvm::zip_equal(Rows, T.Rows))
      Cells.push_back(Row[Index].isNumber() ? scaled(Row[Index].number(), In)
                                            : exact(Row[Index]));
  }
  writeRows(std::move(Columns), Rows, As, OS);
}

/// A table without rows says nothing to people.
static auto shownTables(const Figures &F) {
  return llvm::make_filter_range(
      F.Tables, [](const FigureTable &T) { return !T.Rows.empty(); });
}

static void writeText(const Figures &F, bool IsExact, raw_ostream &OS) {
  for (const NamedFigure &Of : F.Named)
    OS << Of.Title << ": " << describe(Of.Value, Of.Unit, IsExact) << '\n';
  for (const FigureTable &T : shownTables(F)) {
    OS << '\n' << T.Title << '\n';
    writeTable(T, RowFormat::Table, IsExact, OS);
  }
  if (!F.Notes.empty())
    OS << '\n';
  for (const std::string &Note : F.Notes)
    OS << Note << '\n';
}

static void writeMarkdown(const Figures &F, bool IsExact, raw_ostream &OS) {
  for (const NamedFigure &Of : F.Named)
    OS << "* " << Of.Title << ": " << describe(Of.Value, Of.Unit, IsExact)
       << '\n';
  for (const FigureTable &T : shownTables(F)) {
    OS << "\n### " << T.Title << "\n\n";
    writeTable(T, RowFormat::Markdown, IsExact, OS);
  }
  for (const std::string &Note : F.Notes)
    OS << '\n' << Note << '\n';
}

/// `tp all_gather forward`.
static std::string nameOf(const FigureTable &T, llvm::ArrayRef<Figure> Row) {
  std::string Name;
  for (const Figure &F : Row.take_front(T.Names))
    Name += (Name.empty() ? "" : " ") + exact(F);
  return Name;
}

static void writeCSV(const Figures &F, raw_ostream &OS) {
  OS << "table,row,figure,unit,value\n";
  auto Line = [&](StringRef Table, std::string Row, StringRef Key, FigureUnit U,
                  const Figure &Value) {
    writeFields({Table.str(), std::move(Row), Key.str(), getName(U).str(),
                 U == FigureUnit::Flag ? describe(Value, U) : exact(Value)},
                OS);
  };
  for (const NamedFigure &Of : F.Named)
    Line("", "", Of.Key, Of.Unit, Of.Value);
  for (const FigureTable &T : F.Tables)
    for (const std::vector<Figure> &Row : T.Rows)
      for (const auto &[C, Cell] :
           llvm::drop_begin(llvm::zip_equal(T.Columns, Row), T.Names))
        Line(T.Key, nameOf(T, Row), C.Key, C.Unit, Cell);
}

void foretrace::writeValue(const Figure &F, FigureUnit U,
                           llvm::json::OStream &J) {
  if (const auto *Words = std::get_if<std::string>(&F.Value))
    J.value(llvm::json::fixUTF8(*Words));
  else if (const auto *Stages = std::get_if<IndexRange>(&F.Value))
    J.rawValue(printPair(*Stages));
  else if (U == FigureUnit::Flag)
    J.value(F.number() != 0);
  else
    J.rawValue(exact(F)); // it may be more than JSON's library holds
}

static void writeJSON(const Figures &F, raw_ostream &OS) {
  llvm::json::OStream J(OS, 2);
  auto Attribute = [&](StringRef Key, FigureUnit U, const Figure &Value) {
    J.attributeBegin(Key);
    writeValue(Value, U, J);
    J.attributeEnd();
  };
  J.object([&] {
    J.attribute("schema", F.Schema);
    for (const NamedFigure &Of : F.Named)
      Attribute(Of.Key, Of.Unit, Of.Value);
    for (const FigureTable &T : F.Tables)
      J.attributeArray(T.Key, [&] {
        for (const std::vector<Figure> &Row : T.Rows)
          J.object([&] {
            for (const auto &[C, Cell] : llvm::zip_equal(T.Columns, Row))
              Attribute(C.Key, C.Unit, Cell);
          });
      });
    J.attributeArray("notes", [&] {
      for (const std::string &Note : F.Notes)
        J.value(Note);
    });
  });
  J.flush();
  OS << '\n';
}

void foretrace::write(const Figures &F, RowFormat As, bool IsExact,
                      raw_ostream &OS) {
  switch (As) {
  case RowFormat::Table:
    return writeText(F, IsExact, OS);
  case RowFormat::JSON:
    return writeJSON(F, OS);
  case RowFormat::CSV:
    return writeCSV(F, OS);
  case RowFormat::Markdown:
    return writeMarkdown(F, IsExact, OS);
  }
  llvm_unreachable("every format is handled");
}

llvm::Error foretrace::addFigures(const EmitRequest &Request,
                                  const FigureOptions &O, const Figures &F,
                                  OutputSet &Out) {
  const StringRef Extension = O.Format == RowFormat::Table
                                  ? "txt"
                                  : RowFormats[static_cast<size_t>(O.Format)];
  return Out.add(
      Request.file(O.File,
                   ("." + Request.Emit.Backend + "." + Extension).str()),
      [&](raw_ostream &OS) { write(F, O.Format, O.IsExact, OS); });
}
