// SPDX-License-Identifier: Apache-2.0
#include "backends/figures/Figures.h"
#include "lang/NumberText.h"
#include "lang/diagnostics/Backends.h"
#include "lang/diagnostics/Lang.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/JSON.h"
#include <algorithm>

using namespace foretrace;
using llvm::raw_ostream;
using llvm::StringLiteral;
using llvm::StringRef;

Figure::Figure(const ir::ExprTable &Sizes, ir::ExprId Of)
    : Value(static_cast<__int128>(Sizes.value(Of))), From(Of) {
  assert(Sizes.value(Of) != ir::NoValue && "it was checked");
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

bool foretrace::checkEstimate(const EmitRequest &Request, SourceRange At,
                              DiagnosticEngine &Diags) {
  const ir::Spec &S = Request.Program.Spec;
  if (!S.Cluster)
    Diags.report(At, diag::TimeNoCluster);
  else if (!S.Cost.Kind.is(ir::CostKind::Estimate))
    Diags.report(At, diag::TimeNoEstimate);
  else if (Request.Figures.iteration().Total.isOverflow())
    Diags.report(At, diag::SizeOverflow, "the time of an iteration");
  else
    return true;
  return false;
}

std::string foretrace::nameOf(const ir::Stage &S) {
  return printRange(S.First, S.Count);
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

static FigureScale readingOf(FigureUnit U) {
  switch (U) {
  case FigureUnit::Text:
  case FigureUnit::Count:
  case FigureUnit::Flag:
    return {"", 1, 0};
  case FigureUnit::Bytes:
    return {" MiB", 0x1p20, 1};
  case FigureUnit::Flops:
    return {" GFLOP", 1e9, 1};
  case FigureUnit::Millionths:
    return {" %", 1e4, 1};
  case FigureUnit::Time:
    return {" ms", 1e6, 2};
  }
  llvm_unreachable("every unit is handled");
}

FigureScale foretrace::scaleOf(FigureUnit U, __int128 Largest) {
  static constexpr FigureScale Bytes[] = {
      {" B", 1, 0},        {" KiB", 0x1p10, 2}, {" MiB", 0x1p20, 2},
      {" GiB", 0x1p30, 2}, {" TiB", 0x1p40, 2}, {" PiB", 0x1p50, 2},
      {" EiB", 0x1p60, 2}};
  static constexpr FigureScale Flops[] = {
      {" FLOP", 1, 0},     {" kFLOP", 1e3, 2},  {" MFLOP", 1e6, 2},
      {" GFLOP", 1e9, 2},  {" TFLOP", 1e12, 2}, {" PFLOP", 1e15, 2},
      {" EFLOP", 1e18, 2}, {" ZFLOP", 1e21, 2}, {" YFLOP", 1e24, 2}};
  static constexpr FigureScale Times[] = {
      {" ns", 1, 0}, {" us", 1e3, 2}, {" ms", 1e6, 2}, {" s", 1e9, 3}};
  auto Fit = [&](llvm::ArrayRef<FigureScale> Scales) {
    const auto *It =
        llvm::find_if(llvm::drop_begin(Scales), [&](const auto &S) {
          return static_cast<double>(Largest) < S.Of;
        });
    return *(It - 1);
  };
  switch (U) {
  case FigureUnit::Bytes:
    return Fit(Bytes);
  case FigureUnit::Flops:
    return Fit(Flops);
  case FigureUnit::Millionths:
    return {" %", 1e4, 2};
  case FigureUnit::Time:
    return Fit(Times);
  case FigureUnit::Text:
  case FigureUnit::Count:
  case FigureUnit::Flag:
    return readingOf(U);
  }
  llvm_unreachable("every unit is handled");
}

std::string foretrace::exact(const Figure &F) {
  if (const auto *Words = std::get_if<std::string>(&F.Value))
    return *Words;
  return toString(F.number());
}

std::string foretrace::scaled(__int128 Number, const FigureScale &In) {
  if (In.Decimals == 0)
    return toString(Number);
  std::string Text;
  llvm::raw_string_ostream(Text)
      << llvm::format("%.*f", In.Decimals, static_cast<double>(Number) / In.Of);
  return Text;
}

static std::string readable(const Figure &F, FigureUnit U) {
  return std::holds_alternative<std::string>(F.Value)
             ? exact(F)
             : scaled(F.number(), readingOf(U));
}

/// `on_rank` of bytes is `on_rank MiB`.
static std::string titleOf(const FigureColumn &C) {
  return (C.Key + readingOf(C.Unit).Suffix).str();
}

/// `1.062 TFLOP`: of a single number the prefix can be the nearest.
static std::string describeFlops(double Number) {
  constexpr StringLiteral Prefixes = " kMGTPEZY";
  size_t Prefix = 0;
  for (; Number >= 1000 && Prefix + 1 < Prefixes.size(); ++Prefix)
    Number /= 1000;
  std::string Text;
  llvm::raw_string_ostream(Text)
      << llvm::format("%.*f ", Prefix == 0 ? 0 : 3, Number)
      << Prefixes.substr(Prefix, 1).trim() << "FLOP";
  return Text;
}

std::string foretrace::describe(const Figure &F, FigureUnit U) {
  if (std::holds_alternative<std::string>(F.Value))
    return readable(F, U);
  if (U == FigureUnit::Time) {
    const FigureScale Scale = scaleOf(U, F.number());
    return scaled(F.number(), Scale) + Scale.Suffix.str();
  }
  if (U == FigureUnit::Flops)
    return describeFlops(static_cast<double>(F.number()));
  return readable(F, U) + readingOf(U).Suffix.str();
}

static void writeTable(const FigureTable &T, RowFormat As, raw_ostream &OS) {
  std::vector<RowColumn> Columns;
  for (const FigureColumn &C : T.Columns)
    Columns.push_back({titleOf(C), C.Unit != FigureUnit::Text});
  std::vector<std::vector<std::string>> Rows;
  for (const std::vector<Figure> &Row : T.Rows) {
    Rows.emplace_back();
    for (const auto &[C, Cell] : llvm::zip_equal(T.Columns, Row))
      Rows.back().push_back(readable(Cell, C.Unit));
  }
  writeRows(std::move(Columns), Rows, As, OS);
}

/// A table without rows says nothing to people.
static auto shownTables(const Figures &F) {
  return llvm::make_filter_range(
      F.Tables, [](const FigureTable &T) { return !T.Rows.empty(); });
}

static void writeText(const Figures &F, raw_ostream &OS) {
  for (const NamedFigure &Of : F.Named)
    OS << Of.Title << ": " << describe(Of.Value, Of.Unit) << '\n';
  for (const FigureTable &T : shownTables(F)) {
    OS << '\n' << T.Title << '\n';
    writeTable(T, RowFormat::Table, OS);
  }
  if (!F.Notes.empty())
    OS << '\n';
  for (const std::string &Note : F.Notes)
    OS << Note << '\n';
}

static void writeMarkdown(const Figures &F, raw_ostream &OS) {
  for (const NamedFigure &Of : F.Named)
    OS << "* " << Of.Title << ": " << describe(Of.Value, Of.Unit) << '\n';
  for (const FigureTable &T : shownTables(F)) {
    OS << "\n### " << T.Title << "\n\n";
    writeTable(T, RowFormat::Markdown, OS);
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
                 exact(Value)},
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

static void writeValue(const Figure &F, llvm::json::OStream &J) {
  if (const auto *Words = std::get_if<std::string>(&F.Value))
    J.value(*Words);
  else
    J.rawValue(exact(F)); // it may be more than JSON's library holds
}

static void writeJSON(const Figures &F, raw_ostream &OS) {
  llvm::json::OStream J(OS, 2);
  auto Attribute = [&](StringRef Key, const Figure &Value) {
    J.attributeBegin(Key);
    writeValue(Value, J);
    J.attributeEnd();
  };
  J.object([&] {
    J.attribute("schema", F.Schema);
    for (const NamedFigure &Of : F.Named)
      Attribute(Of.Key, Of.Value);
    for (const FigureTable &T : F.Tables)
      J.attributeArray(T.Key, [&] {
        for (const std::vector<Figure> &Row : T.Rows)
          J.object([&] {
            for (const auto &[C, Cell] : llvm::zip_equal(T.Columns, Row))
              Attribute(C.Key, Cell);
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

void foretrace::write(const Figures &F, RowFormat As, raw_ostream &OS) {
  switch (As) {
  case RowFormat::Table:
    return writeText(F, OS);
  case RowFormat::JSON:
    return writeJSON(F, OS);
  case RowFormat::CSV:
    return writeCSV(F, OS);
  case RowFormat::Markdown:
    return writeMarkdown(F, OS);
  }
  llvm_unreachable("every format is handled");
}

llvm::Error foretrace::addFigures(const EmitRequest &Request, StringRef Named,
                                  RowFormat As, const Figures &F,
                                  OutputSet &Out) {
  const StringRef Extension =
      As == RowFormat::Table ? "txt" : RowFormats[static_cast<size_t>(As)];
  return Out.add(
      Request.file(Named, ("." + Request.Emit.Backend + "." + Extension).str()),
      [&](raw_ostream &OS) { write(F, As, OS); });
}
