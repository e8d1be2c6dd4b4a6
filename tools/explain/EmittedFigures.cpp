// SPDX-License-Identifier: Apache-2.0
//
// A figure that a backend writes: one with a name, `model_flops`, or a cell of
// a table, `stages/0/forward`. Its expression is the one that the backend
// summed up.
#include "backends/Backends.h"
#include "backends/Figures.h"
#include "lang/DidYouMean.h"
#include "tools/explain/Emitted.h"
#include "tools/explain/Explain.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace foretrace::explain {

namespace {

/// A figure that was found.
struct Cell {
  std::string Title;
  FigureUnit Unit;
  const foretrace::Figure *Of;
};

} // namespace

static Error unknown(StringRef What, StringRef Name,
                     ArrayRef<StringRef> Known) {
  const StringRef Near = nearestWord(Name, Known);
  return createStringError("--figure: `" + Name + "` is no " + What +
                           (Near.empty()
                                ? "; there are " + join(Known, ", ")
                                : "; did you mean `" + Near.str() + "`?"));
}

static std::string textOf(const foretrace::Figure &F) {
  const auto *Words = std::get_if<std::string>(&F.Value);
  return Words ? *Words : foretrace::toString(F.number());
}

static Expected<Cell> findNamed(const Figures &F, StringRef Key) {
  if (const NamedFigure *Of = F.find(Key))
    return Cell{Of->Title, Of->Unit, &Of->Value};
  std::vector<StringRef> Known;
  for (const NamedFigure &Of : F.Named)
    Known.push_back(Of.Key);
  std::vector<std::string> Cells;
  for (const FigureTable &T : F.Tables)
    Cells.push_back((T.Key + "/ROW/COLUMN").str());
  Known.insert(Known.end(), Cells.begin(), Cells.end());
  return unknown("figure", Key, Known);
}

/// The row whose first cell is \p Name, else the one of that number, from 0.
static Expected<size_t> findRow(const FigureTable &T, StringRef Name) {
  std::vector<std::string> Names;
  for (const auto &Row : T.Rows)
    Names.push_back(textOf(Row.front()));
  const auto It = llvm::find(Names, Name);
  size_t Index = static_cast<size_t>(It - Names.begin());
  if (It != Names.end() ||
      (!Name.getAsInteger(10, Index) && Index < T.Rows.size()))
    return Index;
  return unknown(("row of `" + T.Key + "`").str(), Name,
                 std::vector<StringRef>(Names.begin(), Names.end()));
}

static Expected<Cell> findCell(const FigureTable &T, StringRef RowName,
                               StringRef Column) {
  Expected<size_t> Index = findRow(T, RowName);
  if (!Index)
    return Index.takeError();
  const std::vector<foretrace::Figure> &Row = T.Rows[*Index];
  std::vector<StringRef> Known;
  for (const auto &[C, Of] : zip_equal(T.Columns, Row)) {
    if (C.Key == Column)
      return Cell{(T.Key + " " + textOf(Row.front()) + ", " + T.Title).str(),
                  C.Unit, &Of};
    Known.push_back(C.Key);
  }
  return unknown(("column of `" + T.Key + "`").str(), Column, Known);
}

static Expected<Cell> findFigure(const Figures &F, StringRef Asked) {
  const auto [Table, Rest] = Asked.split('/');
  const auto [Row, Column] = Rest.rsplit('/');
  if (Rest.empty())
    return findNamed(F, Asked);
  std::vector<StringRef> Known;
  for (const FigureTable &T : F.Tables) {
    if (T.Key == Table)
      return findCell(T, Row, Column);
    Known.push_back(T.Key);
  }
  return unknown("table", Table, Known);
}

/// In 64 bits, if it is less than 2^63.
static int64_t valueOf(const foretrace::Figure &F) {
  return F.number() <= INT64_MAX ? static_cast<int64_t>(F.number())
                                 : ir::NoValue;
}

/// What the first `emit` block of \p Backend says.
static Expected<Figures> figuresOf(const ir::Program &P, StringRef Backend) {
  const ir::EmitSpec Emit = firstBlock(P.Spec, Backend);
  DiagnosticEngine Diags;
  const std::unique_ptr<Emission> Block =
      findBackend(Backend)->Read(Emit, Diags);
  const EmitRequest Request{P, Emit, ""};
  if (Diags.hasErrors() || !Block->check(Request, Diags))
    return errorOf("--emit", Diags);
  std::optional<Figures> F = Block->figures(Request);
  assert(F && "the backend writes figures");
  return Expected<Figures>(std::move(*F));
}

Expected<Subjects> explainFigure(const ir::Program &Of, StringRef Backend,
                                 StringRef Asked) {
  Expected<Figures> F = figuresOf(Of, Backend);
  if (!F)
    return F.takeError();
  Expected<Cell> Found = findFigure(*F, Asked);
  if (!Found)
    return Found.takeError();
  const foretrace::Figure &Number = *Found->Of;
  if (!Number.From)
    return createStringError("--figure: `" + Asked + "` is " + textOf(Number) +
                             ", and no expression");
  return Subjects{{(Backend + " " + Asked).str(),
                   {Of.Spec.Model.LayersRange, findBackend(Backend)->Name, ""},
                   {{Found->Title, valueOf(Number), unitName(Found->Unit),
                     FigureMaker(Of.Spec, F->Sizes).derive(*Number.From)}}}};
}

} // namespace foretrace::explain
