// SPDX-License-Identifier: Apache-2.0
#include "tools/diff/Changes.h"
#include "llvm/ADT/STLExtras.h"
#include <set>

using namespace foretrace;
using namespace foretrace::diff;
using llvm::StringRef;

/// How many of the first columns name a row.
static size_t nameLength(const FigureTable &T) {
  const auto It = llvm::find_if(T.Columns, [](const FigureColumn &C) {
    return C.Unit != FigureUnit::Text;
  });
  const auto Words = static_cast<size_t>(It - T.Columns.begin());
  return Words == T.Columns.size() ? 1 : std::max<size_t>(Words, 1);
}

static bool isOfStages(const FigureTable &T) {
  return StringRef(T.Columns.front().Key).starts_with("stage");
}

static std::string wordsOf(const Figure &F) {
  const auto *Words = std::get_if<std::string>(&F.Value);
  return Words ? *Words : toString(F.number());
}

/// \p Row of \p T, with the stages that it is of: `3`, or `1-6`.
static RowName rowName(const FigureTable &T, const std::vector<Figure> &Row) {
  RowName Name;
  for (const Figure &F : llvm::ArrayRef(Row).take_front(nameLength(T)))
    Name.Words.push_back(wordsOf(F));
  if (!isOfStages(T))
    return Name;
  const auto [First, Last] = StringRef(Name.Words.front()).split('-');
  int64_t From = 0, To = 0;
  if (First.getAsInteger(10, From))
    return Name; // the line below, of all stages
  Name.Stage = From;
  Name.LastStage = Last.getAsInteger(10, To) ? From : To;
  Name.Words.erase(Name.Words.begin());
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
  if (!Name.Stage)
    return Rows.find(Name);
  return llvm::find_if(Rows, [&](const auto &Row) {
    const RowName &Of = Row.first;
    return Of.Stage && *Of.Stage <= *Name.Stage &&
           *Of.LastStage >= *Name.Stage && Of.Words == Name.Words;
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
      if (const RowName &N = Names.back(); N.Stage) {
        Cuts.insert(*N.Stage);
        Cuts.insert(*N.LastStage + 1);
      }
    }
  }
  std::vector<RowName> Cut;
  std::set<RowName> Known;
  for (const RowName &N : Names)
    if (!N.Stage) {
      if (Known.insert(N).second)
        Cut.push_back(N);
    } else {
      for (auto It = Cuts.find(*N.Stage); *It <= *N.LastStage; ++It)
        if (RowName Part = {N.Words, *It, *std::next(It) - 1};
            Known.insert(Part).second)
          Cut.push_back(std::move(Part));
    }
  llvm::stable_sort(Cut, [](const RowName &L, const RowName &R) {
    return L.Stage.value_or(INT64_MAX) < R.Stage.value_or(INT64_MAX);
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

/// Those of two tables that are no part of the name of a row.
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

/// One of both may be missing.
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
