// SPDX-License-Identifier: Apache-2.0
#include "frontend/sweep/BindSweep.h"
#include "frontend/Bind.h"
#include "frontend/Keys.h"
#include "frontend/sweep/AxisValues.h"
#include "ir/model/SpecKeys.h"
#include "lang/DidYouMean.h"
#include "lang/diagnostics/Frontend.h"
#include "lang/diagnostics/Lang.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"

using namespace foretrace;
using ir::Expr;

static Dimension dimensionOfType(SweepSpec::Type Of) {
  switch (Of) {
  case SweepSpec::Type::Bytes:
    return Dimension::Bytes;
  case SweepSpec::Type::Time:
    return Dimension::Time;
  case SweepSpec::Type::Share:
    return Dimension::Share;
  default:
    return Dimension::Count;
  }
}

/// The inverse; rates are counts in their base unit.
static SweepSpec::Type typeOf(Dimension D) {
  using Type = SweepSpec::Type;
  for (const Type Of : {Type::Bytes, Type::Time, Type::Share})
    if (dimensionOfType(Of) == D)
      return Of;
  return Type::Count;
}

/// A key of the job: one that an axis is, or, once all axes are known, any
/// number.
std::optional<ExprValue> SweepBinder::lookUp(llvm::ArrayRef<ast::Word> Path) {
  const std::string Name = pathOf({Path.vec()});
  for (const auto &[Key, V] : Keys)
    if (Key == Name)
      return V;
  const std::optional<ir::Key> Number = ir::findNumber(Name);
  if (!KnowsAxes || !Number)
    return std::nullopt;
  return ExprValue{
      Expr(Out.Sizes, Out.Sizes.key(*Number, 1)), Dimension::Count, {}};
}

/// Reports a key that no job can have. Whether this job can have it is checked
/// when it is read.
bool SweepBinder::checkKey(const ast::Name &Key, SourceRange Axis) {
  static constexpr llvm::StringRef Sections[] = {
      "model", "train", "parallel", "requests", "serve", "cost", "cluster"};
  const ast::Word &First = Key.Path.front(), &Last = Key.Path.back();
  if (Key.Path.size() > 1) {
    const std::vector<llvm::StringRef> Known = Binder::keysOf(First.Text);
    if (Key.Path.size() == 2 && !Known.empty() &&
        !llvm::is_contained(Known, Last.Text)) {
      reportUnknownKey(Last, Axis, First.Text, Known, Diags);
      return false;
    }
    if (llvm::is_contained(Sections, First.Text))
      return true;
    suggest(Diags.report(First.Range, diag::UnknownSection, First.Text),
            First.Range, First.Text, Sections);
    return false;
  }
  if (First.Text == "cluster")
    return true;
  llvm::SmallVector<llvm::StringRef> Params;
  for (JobFile *U : Files)
    for (const Symbol &S : U->Names.symbols())
      if (S.Param)
        Params.push_back(S.Name.Text);
  if (llvm::is_contained(Params, First.Text))
    return true;
  suggest(Diags.report(First.Range, diag::UnknownParam, First.Text),
          First.Range, First.Text, Params);
  return false;
}

/// From now on expressions know the key.
void SweepBinder::declare(const ast::Name &Key, ExprValue V) {
  if (Key.Path.size() == 1)
    for (JobFile *U : Files)
      for (Symbol &S : U->Names.symbols())
        if (S.Param && S.Name.Text == Key.Path.front().Text) {
          S.Result = V;
          S.Is = Symbol::State::Known;
        }
  Keys.emplace_back(pathOf(Key), std::move(V));
}

/// Reports duplicate tuples, and those that other axes decide.
bool SweepBinder::checkTuples(const ast::Axis &A,
                              llvm::ArrayRef<AxisValues> Values) {
  llvm::StringMap<size_t> Seen;
  for (const auto &[Index, E] : llvm::enumerate(A.Elements)) {
    std::string Tuple;
    for (const AxisValues &V : Values) {
      if (V.dependsOnAxes()) {
        Diags.report(E.Range, diag::AxisValue,
                     "one that depends on axes where keys change together");
        return false;
      }
      Tuple += V.texts()[Index] + "\n";
    }
    if (!Seen.try_emplace(Tuple, Index).second) {
      Diags.report(E.Range, diag::DuplicateValue, Eval.source(E.Range));
      return false;
    }
  }
  return true;
}

void SweepBinder::bindAxis(const ast::Axis &A) {
  if (!hasRoom(A.Keys.size(), A.Range))
    return;
  std::vector<AxisValues> Values;
  for (const ast::Name &K : A.Keys)
    Values.emplace_back(K, Out, Eval, Names, Diags);
  bool IsGood = llvm::all_of(
      A.Keys, [&](const ast::Name &K) { return checkKey(K, A.Range); });
  for (const ast::Axis::Element &E : A.Elements) {
    if (A.Keys.size() == 1) {
      IsGood &= Values.front().add(E);
      continue;
    }
    const auto *Tuple = std::get_if<ast::List>(&E.First->Node);
    const size_t Found = Tuple && !E.Last ? Tuple->Elements.size() : 1;
    if (Found != A.Keys.size()) {
      Diags.report(E.Range, diag::AxisTuple, A.Keys.size(), Found);
      return;
    }
    for (const auto &[V, Of] : llvm::zip_equal(Values, Tuple->Elements))
      IsGood &= V.addValue(*Of);
  }
  if (IsGood)
    IsGood =
        A.Keys.size() == 1 ? Values.front().finish() : checkTuples(A, Values);
  if (!IsGood)
    return;
  SweepSpec::Axis &To = Out.Axes.emplace_back();
  To.Range = A.Range;
  To.Keys.reserve(A.Keys.size()); // values point into them
  for (const auto &[Key, V] : llvm::zip_equal(A.Keys, Values)) {
    const std::vector<int64_t> *Numbers = V.numbers();
    SweepSpec::Key &K = To.Keys.emplace_back();
    K.Name = pathOf(Key);
    K.Range = Key.Path.front().Range.to(Key.Path.back().Range);
    const Expr Self(Out.Sizes, Out.Sizes.key(SweepSpec::axisKey(NumKeys++), 1));
    if (const auto Member = V.membership(Self))
      addCondition(*Member, A.Range, Eval.source(A.Range).str());
    if (Numbers)
      K.Numbers = *Numbers;
    K.AreCounts = Numbers && V.dimension() == Dimension::Count;
    K.Words = V.takeWords();
    K.Values = V.take();
    if (!Numbers)
      for (size_t I = 0; I < K.Values.size(); ++I)
        K.Numbers.push_back(static_cast<int64_t>(I));
    declare(Key, Numbers ? ExprValue{Self, V.dimension(), {}}
                         : ExprValue{WordAxisValue{K.Name, Self, K.Words},
                                     Dimension::Count,
                                     {}});
  }
  if (To.size() == 0)
    Diags.report(To.Range, diag::EmptyAxis, To.Keys.front().Name);
}

void SweepBinder::addCondition(Expr Holds, SourceRange Range,
                               std::string Text) {
  Out.Conditions.push_back({Holds, Range, std::move(Text)});
}

void SweepBinder::bindCondition(const ast::Expr &E) {
  const std::optional<ExprValue> V = Eval.evaluate(E, Names);
  if (!V)
    return;
  const std::string Text = Eval.source(E.Range).str();
  if (const auto *C = V->getIf<ConditionValue>())
    addCondition(C->Holds, E.Range, Text);
  else if (const bool *Always = V->getIf<bool>(); !Always)
    Diags.report(E.Range, diag::NotACondition, describe(*V));
  else if (!*Always)
    Diags.report(E.Range, diag::NeverHolds, Text);
}

/// Returns whether it is a column of the results already, whose names SQL
/// compares without case.
bool SweepBinder::isTaken(llvm::StringRef Name) const {
  auto IsSame = [&](llvm::StringRef Other) {
    return Other.equals_insensitive(Name);
  };
  return IsSame("id") || llvm::any_of(MetricNames, IsSame) ||
         llvm::any_of(Keys, [&](const auto &K) { return IsSame(K.first); });
}

/// Returns whether the table of results takes \p More columns; those of the
/// metrics that each point has are not counted.
bool SweepBinder::hasRoom(size_t More, SourceRange Range) {
  constexpr size_t MaxColumns = 1000; // SQLite takes 2000
  if (Keys.size() + Out.Metrics.size() + More <= MaxColumns)
    return true;
  Diags.report(Range, diag::EntryLimit, "the table of results", MaxColumns);
  return false;
}

void SweepBinder::bindMetric(const SweepEntries::Metric &M) {
  if (!hasRoom(1, M.Name.Range))
    return;
  if (isTaken(M.Name.Text)) {
    Diags.report(M.Name.Range, diag::DuplicateMetric, M.Name.Text);
    return;
  }
  const std::optional<ExprValue> V = Eval.evaluate(*M.Of, Names);
  if (!V)
    return;
  const auto *Of = V->getIf<Expr>();
  if (!Of) {
    DiagnosticBuilder B = Diags.report(M.Of->Range, diag::MetricOfPoints,
                                       M.Name.Text, describe(*V));
    noteMetric(*V, B);
    if (V->getIf<ListValue>())
      B.note(M.Name.Range, diag::AxisForm, M.Name.Text,
             Eval.source(M.Of->Range).drop_front().drop_back());
    return;
  }
  Names.give(M.Name, *V);
  MetricNames.push_back(M.Name.Text);
  Out.Metrics.push_back({M.Name.Text, typeOf(V->Dim), *Of, M.Of->Range,
                         Eval.source(M.Of->Range).str()});
}

/// The number of a metric; an expression becomes one.
std::optional<size_t> SweepBinder::metricOf(const ast::Expr &E) {
  std::string Text = Eval.source(E.Range).str();
  std::replace(Text.begin(), Text.end(), '\n', ' ');
  if (!llvm::is_contained(MetricNames, Text) && isTaken(Text))
    Text = "(" + Text + ")"; // an axis
  if (!llvm::is_contained(MetricNames, Text))
    bindMetric({{Text, E.Range}, &E});
  const auto It = llvm::find(MetricNames, Text);
  if (It == MetricNames.end())
    return std::nullopt;
  return It - MetricNames.begin();
}

std::optional<SweepSpec::Goal> SweepBinder::goalOf(const ast::Expr &E,
                                                   bool IsLargest) {
  const std::optional<size_t> Metric = metricOf(E);
  if (!Metric)
    return std::nullopt;
  return SweepSpec::Goal{*Metric, IsLargest};
}

/// `top(10, memory)`, or `top(10)` of what is best.
bool SweepBinder::bindTop(const ast::Call &C) {
  if (C.Arguments.empty() || C.Arguments.size() > 2 ||
      (C.Arguments.size() == 1 && !Out.Best))
    return false;
  const std::optional<ExprValue> Count = Eval.evaluate(*C.Arguments[0], Names);
  const int64_t *N = Count ? Count->getIf<int64_t>() : nullptr;
  if (!N || *N < 1)
    return !Count; // that was reported
  Out.Keeps = SweepSpec::Kept::Top;
  Out.Count = *N;
  if (C.Arguments.size() == 1)
    Out.By = {*Out.Best};
  else if (const auto G = goalOf(*C.Arguments[1], false))
    Out.By = {*G};
  return true;
}

void SweepBinder::bindKeep(const ast::Expr &E) {
  if (const auto *All = std::get_if<ast::Name>(&E.Node);
      All && pathOf(*All) == "all")
    return;
  const auto *C = std::get_if<ast::Call>(&E.Node);
  if (C && C->Callee.Text == "top" && bindTop(*C))
    return;
  if (!C || C->Callee.Text != "pareto" || C->Arguments.size() < 2) {
    Diags.report(E.Range, diag::KeepForm);
    return;
  }
  Out.Keeps = SweepSpec::Kept::Pareto;
  for (const ast::ExprPtr &By : C->Arguments)
    if (const auto G = goalOf(*By, false))
      Out.By.push_back(*G);
}

void SweepBinder::bindFits(const ast::Expr &E) {
  const auto *Word = std::get_if<ast::Name>(&E.Node);
  const std::string Text = Word ? pathOf(*Word) : "";
  Out.TakesUnfit = Text == "any";
  if (!Out.TakesUnfit && Text != "required")
    Diags.report(E.Range, diag::FitsForm, Eval.source(E.Range));
}

void SweepBinder::bindClause(const ast::Clause &C) {
  if (C.Keyword.Text == "fits")
    return bindFits(*C.Of);
  if (C.Keyword.Text == "where")
    return bindCondition(*C.Of);
  if (C.Keyword.Text == "keep")
    return bindKeep(*C.Of);
  Out.Best = goalOf(*C.Of, C.Keyword.Text == "maximize");
}

/// Reports conditions on axes that no values of theirs meet, alone or two
/// together.
void SweepBinder::checkConditions() {
  constexpr size_t MaxCombinations = size_t(1) << 16;
  auto HoldSomewhere = [&](llvm::ArrayRef<ir::ExprId> All) {
    if (!llvm::all_of(All, [&](ir::ExprId E) { return Out.axesOf(E); }))
      return true;
    SweepSpec::Combinations Points(Out, All);
    if (Points.size() > MaxCombinations)
      return true;
    for (; !Points.atEnd(); Points.next()) {
      size_t Met = 0;
      while (Met < All.size() && Points.value(Met) == 1)
        ++Met;
      if (Met == All.size())
        return true;
    }
    return false;
  };
  const std::vector<SweepSpec::Condition> &Cs = Out.Conditions;
  std::vector<const SweepSpec::Condition *> Possible;
  for (const SweepSpec::Condition &C : Cs) {
    if (!HoldSomewhere(C.Holds)) {
      Diags.report(C.Range, diag::NeverHolds, C.Text);
      continue;
    }
    for (const SweepSpec::Condition *Other : Possible)
      if (!HoldSomewhere({Other->Holds, C.Holds})) {
        Diags.report(C.Range, diag::NeverHoldTogether, Other->Text, C.Text)
            .note(Other->Range, diag::DeclaredHere, Other->Text);
        break;
      }
    Possible.push_back(&C);
  }
}

SweepSpec SweepBinder::bind(const SweepEntries &Entries,
                            llvm::ArrayRef<SweepRequest::Metric> Metrics) {
  for (const ast::Let *L : Entries.lets()) {
    Symbol Let;
    Let.Name = L->Name;
    Let.Definition = L->Value.get();
    if (llvm::any_of(Metrics, [&](const SweepRequest::Metric &M) {
          return M.Name == L->Name.Text;
        }))
      Diags.report(L->Name.Range, diag::DuplicateMetric, L->Name.Text);
    Names.add(std::move(Let), Diags);
  }
  for (const ast::Axis *A : Entries.axes())
    bindAxis(*A);
  KnowsAxes = true;
  for (const auto &[Index, M] : llvm::enumerate(Metrics)) {
    const Expr Self(Out.Sizes, Out.Sizes.key(SweepSpec::metricKey(Index), 1));
    if (M.Is == SweepSpec::Type::Condition)
      Names.give({M.Name, {}}, {ConditionValue{Self}, Dimension::Count, {}});
    else
      Names.give({M.Name, {}}, {Self, dimensionOfType(M.Is), {}});
    MetricNames.push_back(M.Name);
  }
  for (const SweepEntries::Metric &M : Entries.metrics())
    bindMetric(M);
  llvm::SmallVector<const ast::Clause *> Last; // they read the goals
  for (const ast::Clause *C : Entries.clauses())
    if (C->Keyword.Text == "keep")
      Last.push_back(C);
    else
      bindClause(*C);
  for (const ast::Clause *C : Last)
    bindClause(*C);
  if (!Diags.hasErrors())
    checkConditions();
  Out.HasEmits = Entries.hasEmits();
  return std::move(Out);
}
