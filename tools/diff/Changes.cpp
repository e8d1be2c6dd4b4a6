// SPDX-License-Identifier: Apache-2.0
#include "tools/diff/Changes.h"
#include "llvm/ADT/STLExtras.h"
#include <set>

using namespace foretrace;
using namespace foretrace::diff;
using llvm::StringRef;

/// Returns the number of first columns that name a row.
static size_t nameLength(const FigureTable &T) {
  const auto It = llvm::find_if(T.Columns, [](const FigureColumn &C) {
    return C.Unit != FigureUnit::Text;
  });
  const auto Words = static_cast<size_t>(It - T.Columns.begin());
  return Words == T.Columns.size() ? 1 : std::max<size_t>(Words, 1);
}

static RowName rowName(const FigureTable &T, const std::vector<Figure> &Row) {
  RowName Name;
  for (const Figure &F : llvm::ArrayRef(Row).take_front(nameLength(T)))
    if (const auto *Stages = std::get_if<IndexRange>(&F.Value))
      Name.Stages = *Stages;
    else
      Name.Words.push_back(exact(F));
  return Name;
}

FigureIndex::FigureIndex(const Answers &Of) : Of(Of) {
  for (unsigned I = 0; I < Of.size(); ++I)
    for (const FigureTable &T : Of[I].Tables) {
      Rows &Into = Tables.emplace_back(Rows{I, &T, {}});
      for (const std::vector<Figure> &Row : T.Rows)
        Into.ByName.emplace(rowName(T, Row), &Row); // the first of that name
    }
}

/// The row of \p Rows that is, or of stages that has, \p Name.
template <typename MapT>
static auto findRow(const MapT &Rows, const RowName &Name) {
  if (!Name.Stages)
    return Rows.find(Name);
  return llvm::find_if(Rows, [&](const auto &Row) {
    const RowName &Of = Row.first;
    return Of.Stages && Of.Stages->First <= Name.Stages->First &&
           Of.Stages->last() >= Name.Stages->First && Of.Words == Name.Words;
  });
}

const Figure *FigureIndex::find(const FigureName &Name) const {
  if (Name.Table.empty()) {
    const NamedFigure *Found = Of[Name.Answer].find(Name.Column);
    return Found ? &Found->Value : nullptr;
  }
  for (const Rows &In : Tables) {
    if (In.Answer != Name.Answer || Name.Table != StringRef(In.Table->Key))
      continue;
    const auto Row = findRow(In.ByName, Name.Row);
    const auto Column =
        llvm::find_if(In.Table->Columns, [&](const FigureColumn &C) {
          return Name.Column == StringRef(C.Key);
        });
    if (Row == In.ByName.end() || Column == In.Table->Columns.end())
      return nullptr;
    return &(
        *Row->second)[static_cast<size_t>(Column - In.Table->Columns.begin())];
  }
  return nullptr;
}

/// The rows of two tables, in their order; stages are cut where one of both
/// cuts them.
static std::vector<RowName> namesOf(const FigureTable *A,
                                    const FigureTable *B) {
  std::vector<RowName> Names;
  std::set<int64_t> Cuts;
  for (const FigureTable *T : {A, B}) {
    if (!T)
      continue;
    for (const std::vector<Figure> &Row : T->Rows) {
      Names.push_back(rowName(*T, Row));
      if (const auto &Stages = Names.back().Stages) {
        Cuts.insert(Stages->First);
        Cuts.insert(Stages->last() + 1);
      }
    }
  }
  std::vector<RowName> Cut;
  std::set<RowName> Known;
  for (const RowName &N : Names)
    if (!N.Stages) {
      if (Known.insert(N).second)
        Cut.push_back(N);
    } else {
      for (auto It = Cuts.find(N.Stages->First); *It <= N.Stages->last(); ++It)
        if (RowName Part = {N.Words, IndexRange{*It, *std::next(It) - *It}};
            Known.insert(Part).second)
          Cut.push_back(std::move(Part));
    }
  llvm::stable_sort(Cut, [](const RowName &L, const RowName &R) {
    return L.stage() < R.stage();
  });
  return Cut;
}

namespace {

class Comparison {
public:
  Comparison(const Answers &Before, const Answers &After)
      : Before(Before), After(After), Old(Before), New(After) {}

  std::vector<FigureChange> run();

private:
  void compare(FigureName Name, const std::string &Title, FigureUnit Unit,
               bool IsOnly = false);
  void compareTables(const FigureTable *A, const FigureTable *B);
  void compareAnswers(const Figures &A, const Figures &B);

  const Answers &Before, &After;
  unsigned Answer = 0; ///< that is compared
  const FigureIndex Old, New;
  std::vector<FigureChange> Changes;
};

} // namespace

void Comparison::compare(FigureName Name, const std::string &Title,
                         FigureUnit Unit, bool IsOnly) {
  const Figure *Was = Old.find(Name), *Is = New.find(Name);
  if (Was ? Is && Was->Value == Is->Value : !Is)
    return;
  FigureChange &C =
      Changes.emplace_back(FigureChange{std::move(Name), Title, Unit, IsOnly});
  if (Was)
    C.Before = *Was;
  if (Is)
    C.After = *Is;
}

template <typename RangeT>
static auto findKey(const RangeT &In, StringRef Key) {
  const auto It = llvm::find_if(
      In, [&](const auto &Of) { return StringRef(Of.Key) == Key; });
  return It == In.end() ? nullptr : &*It;
}

/// Returns the columns of two tables that are not part of a row's name.
static std::vector<FigureColumn> columnsOf(const FigureTable *A,
                                           const FigureTable *B) {
  std::vector<FigureColumn> Columns;
  for (const FigureTable *T : {A, B})
    if (T)
      for (const FigureColumn &C :
           llvm::ArrayRef(T->Columns).drop_front(nameLength(*T)))
        if (!findKey(Columns, C.Key))
          Columns.push_back(C);
  return Columns;
}

/// Compares tables, one of which may be missing.
void Comparison::compareTables(const FigureTable *A, const FigureTable *B) {
  const FigureTable &Any = A ? *A : *B;
  const std::vector<FigureColumn> Columns = columnsOf(A, B);
  for (const RowName &Row : namesOf(A, B))
    for (const FigureColumn &C : Columns)
      compare({Answer, Any.Key, Row, C.Key}, Any.Title, C.Unit,
              Columns.size() == 1);
}

void Comparison::compareAnswers(const Figures &A, const Figures &B) {
  for (const NamedFigure &F : A.Named)
    compare({Answer, "", {}, F.Key}, F.Title, F.Unit);
  for (const NamedFigure &F : B.Named)
    if (!findKey(A.Named, F.Key))
      compare({Answer, "", {}, F.Key}, F.Title, F.Unit);
  for (const FigureTable &T : A.Tables)
    compareTables(&T, findKey(B.Tables, T.Key));
  for (const FigureTable &T : B.Tables)
    if (!findKey(A.Tables, T.Key))
      compareTables(nullptr, &T);
}

std::vector<FigureChange> Comparison::run() {
  for (Answer = 0; Answer < Before.size(); ++Answer)
    compareAnswers(Before[Answer], After[Answer]);
  return std::move(Changes);
}

std::vector<FigureChange> diff::compareFigures(const Answers &Before,
                                               const Answers &After) {
  return Comparison(Before, After).run();
}
