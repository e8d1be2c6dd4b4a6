// SPDX-License-Identifier: Apache-2.0
#include "backends/Figures.h"
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

const NamedFigure *Figures::find(StringRef Key) const {
  const auto It =
      llvm::find_if(Named, [&](const NamedFigure &F) { return F.Key == Key; });
  return It == Named.end() ? nullptr : &*It;
}

std::string foretrace::nameOf(const ir::Stage &S) {
  return std::to_string(S.First) +
         (S.Count > 1 ? "-" + std::to_string(S.First + S.Count - 1) : "");
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

namespace {

/// How people read a unit.
struct Reading {
  StringRef Suffix; ///< of a name
  double Of;        ///< as many are one
  int Decimals;
};

} // namespace

static Reading readingOf(FigureUnit U) {
  switch (U) {
  case FigureUnit::Text:
  case FigureUnit::Count:
    return {"", 1, 0};
  case FigureUnit::Bytes:
    return {" MiB", 0x1p20, 1};
  case FigureUnit::Flops:
    return {" GFLOP", 1e9, 1};
  case FigureUnit::Millionths:
    return {" %", 1e4, 1};
  }
  llvm_unreachable("every unit is handled");
}

StringRef foretrace::getName(FigureUnit U) {
  static constexpr StringRef Names[] = {"text", "count", "bytes", "flops",
                                        "millionths"};
  return Names[static_cast<size_t>(U)];
}

std::string foretrace::exact(const Figure &F) {
  if (const auto *Words = std::get_if<std::string>(&F.Value))
    return *Words;
  return toString(F.number());
}

static std::string readable(const Figure &F, FigureUnit U) {
  const Reading As = readingOf(U);
  if (As.Decimals == 0 || std::holds_alternative<std::string>(F.Value))
    return exact(F);
  std::string Text;
  llvm::raw_string_ostream(Text) << llvm::format(
      "%.*f", As.Decimals, static_cast<double>(F.number()) / As.Of);
  return Text;
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
                                  StringRef Name, RowFormat As,
                                  const Figures &F, OutputSet &Out) {
  const StringRef Extension =
      As == RowFormat::Table ? "txt" : RowFormats[static_cast<size_t>(As)];
  return Out.add(Request.file(Named, ("." + Name + "." + Extension).str()),
                 [&](raw_ostream &OS) { write(F, As, OS); });
}
