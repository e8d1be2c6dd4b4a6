// SPDX-License-Identifier: Apache-2.0
#include "backends/Locate.h"
#include "backends/Backends.h"
#include "backends/figures/Figures.h"
#include "ir/model/Ranks.h"
#include "lang/DidYouMean.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace foretrace {

Error errorOf(StringRef Option, const DiagnosticEngine &Diags) {
  return createStringError(Twine(Option) + ": " + Diags.firstError()->text());
}

Error checkRank(const ir::Program &P, int64_t Rank) {
  const int64_t World = *P.Spec.Parallel.World;
  if (Rank >= 0 && Rank < World)
    return Error::success();
  return createStringError(
      formatv("--rank: the job has {0} ranks, from 0", World).str());
}

int64_t stageOf(const ir::Program &P, int64_t Rank) {
  return ir::RankMap(P.Mesh, *P.Spec.Parallel.RankOrder)
      .coordinate(Rank, ir::Axis::Pp);
}

namespace {

/// A figure that was found.
struct NamedCell {
  std::string Title;
  FigureUnit Unit;
  const Figure *Of;
  std::function<Derivation()> Derive = nullptr; ///< as of a NamedFigure
};

} // namespace

static Error unknown(StringRef What, StringRef Name,
                     ArrayRef<StringRef> Known) {
  return createStringError(
      "--figure: `" + Name + "` is no " + What +
      didYouMean(Name, Known, "; there are " + join(Known, ", ")));
}

static Expected<NamedCell> findNamed(const Figures &F, StringRef Key) {
  if (const NamedFigure *Of = F.find(Key))
    return NamedCell{Of->Title, Of->Unit, &Of->Value, Of->Derive};
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
    Names.push_back(exact(Row.front()));
  const auto It = llvm::find(Names, Name);
  size_t Index = static_cast<size_t>(It - Names.begin());
  if (It != Names.end() ||
      (!Name.getAsInteger(10, Index) && Index < T.Rows.size()))
    return Index;
  return unknown(("row of `" + T.Key + "`").str(), Name,
                 std::vector<StringRef>(Names.begin(), Names.end()));
}

static Expected<NamedCell> findCell(const FigureTable &T, StringRef RowName,
                                    StringRef Column) {
  Expected<size_t> Index = findRow(T, RowName);
  if (!Index)
    return Index.takeError();
  const std::vector<Figure> &Row = T.Rows[*Index];
  std::vector<StringRef> Known;
  for (const auto &[C, Of] : zip_equal(T.Columns, Row)) {
    if (C.Key == Column)
      return NamedCell{
          (T.Key + " " + exact(Row.front()) + ", " + T.Title).str(), C.Unit,
          &Of};
    Known.push_back(C.Key);
  }
  return unknown(("column of `" + T.Key + "`").str(), Column, Known);
}

static Expected<NamedCell> findFigure(const Figures &F, StringRef Asked) {
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
static int64_t valueOf(const Figure &F) {
  return F.number() <= INT64_MAX ? static_cast<int64_t>(F.number())
                                 : ir::NoValue;
}

Expected<Subjects> locateFigure(const EmitRequest &Request, const Figures &F,
                                StringRef Asked) {
  Expected<NamedCell> Found = findFigure(F, Asked);
  if (!Found)
    return Found.takeError();
  const Figure &Number = *Found->Of;
  if (!Number.From && !Found->Derive)
    return createStringError("--figure: `" + Asked + "` is " + exact(Number) +
                             ", and no expression");
  const ir::Spec &Job = Request.Program.Spec;
  const std::string &Backend = Request.Emit.Backend;
  return Subjects{{(Twine(Backend) + " " + Asked).str(),
                   {Job.Model.LayersRange, findBackend(Backend)->Name, ""},
                   {{Found->Title, valueOf(Number), unitName(Found->Unit),
                     Found->Derive
                         ? Found->Derive()
                         : FigureMaker(Job, F.Sizes).derive(*Number.From)}}}};
}

} // namespace foretrace
