// SPDX-License-Identifier: Apache-2.0
#include "frontend/sweep/AxisValues.h"
#include "frontend/Arithmetic.h"
#include "ir/model/Evaluate.h"
#include "lang/DidYouMean.h"
#include "lang/diagnostics/Frontend.h"
#include "lang/diagnostics/Lang.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>
#include <map>
#include <set>

using namespace foretrace;
using ir::Expr;
using ir::ExprOp;

/// The limit of all axes together: no useful key has more values, and longer
/// lists would only fill memory.
static constexpr size_t MaxValues = size_t(1) << 20;
/// The limit of combinations of axes before one that depends on them.
static constexpr size_t MaxCombinations = size_t(1) << 16;
/// Numbers that are tried for the divisors that an axis depends on.
static constexpr int64_t MaxTried = int64_t(1) << 28;
/// Its root is searched for divisors.
static constexpr int64_t MaxDivided = int64_t(1) << 40;

static std::vector<int64_t> divisorsOf(int64_t N) {
  std::vector<int64_t> Small, Large;
  for (int64_t I = 1; I <= N / I; ++I) {
    if (N % I != 0)
      continue;
    Small.push_back(I);
    if (I != N / I)
      Large.push_back(N / I);
  }
  Small.insert(Small.end(), Large.rbegin(), Large.rend());
  return Small;
}

/// An integer, of the job or of the axes before.
std::optional<ExprValue> AxisValues::number(const ast::Expr &E) {
  std::optional<ExprValue> V = Eval.evaluate(E, Names);
  if (!V || V->getIf<Expr>() || V->getIf<int64_t>())
    return V;
  Diags.report(E.Range, diag::TypeMismatch, "in", "an integer", describe(*V));
  return std::nullopt;
}

/// Appends the numbers of a series whose ends are known.
bool AxisValues::expand(const Element &E, int64_t First, int64_t Last,
                        std::vector<int64_t> &To) {
  switch (E.Of) {
  case Series::One:
    To.push_back(First);
    return true;
  case Series::Range: {
    int64_t Length;
    if (First <= Last && (llvm::SubOverflow(Last, First, Length) ||
                          Length >= static_cast<int64_t>(MaxValues) ||
                          To.size() + static_cast<size_t>(Length) >= MaxValues))
      break;
    if (First <= Last)
      for (int64_t I = First;; ++I) {
        To.push_back(I);
        if (I == Last)
          break;
      }
    return true;
  }
  case Series::Powers:
    if (First < 1 || !llvm::isPowerOf2_64(static_cast<uint64_t>(First))) {
      Diags.report(E.First.Range, diag::NotAPower, First);
      return false;
    }
    for (auto I = static_cast<uint64_t>(First);
         Last > 0 && I <= static_cast<uint64_t>(Last); I *= 2)
      To.push_back(static_cast<int64_t>(I));
    return true;
  case Series::Divisors:
    if (First < 1 || First > MaxDivided) {
      Diags.report(E.First.Range, diag::NotDivided, First);
      return false;
    }
    llvm::append_range(To, divisorsOf(First));
    return true;
  }
  Diags.report(E.Range, diag::AxisTooLong, MaxValues);
  return false;
}

void AxisValues::addText(std::string Text, SourceRange Range,
                         std::string Word) {
  Texts.push_back(std::move(Text));
  Words.push_back(std::move(Word));
  Places.push_back(Range);
}

bool AxisValues::addNumbers(llvm::ArrayRef<int64_t> Found, SourceRange Range) {
  size_t Count = Texts.size() + Found.size();
  for (const SweepSpec::Axis &A : Before.Axes)
    Count += A.size() * A.Keys.size();
  if (Count > MaxValues) {
    Diags.report(Range, diag::AxisTooLong, MaxValues);
    return false;
  }
  for (const int64_t N : Found) {
    addText(std::to_string(N), Range, std::to_string(N));
    Numbers.push_back(N);
  }
  return true;
}

bool AxisValues::addSeries(Series Of, const ast::Expr &First,
                           const ast::Expr *Last, SourceRange Range) {
  std::optional<ExprValue> A = number(First), B = Last ? number(*Last) : A;
  if (!A || !B)
    return false;
  Element &E = Elements.emplace_back(Element{Of, *A, *B, Range});
  if (E.dependsOnAxes()) {
    AreDependent = true;
    return true;
  }
  const int64_t From = *A->getIf<int64_t>(), Until = *B->getIf<int64_t>();
  if (From > Until) {
    Diags.report(Range, diag::EmptyRange, From, Until);
    return false;
  }
  std::vector<int64_t> Found;
  return expand(E, From, Until, Found) && addNumbers(Found, Range);
}

bool AxisValues::addCall(const ast::Call &C, SourceRange Range) {
  const bool IsPowers = C.Callee.Text == "powers";
  const size_t Wanted = IsPowers ? 2 : 1;
  if (C.Arguments.size() != Wanted) {
    Diags.report(Range, diag::ArgumentCount, C.Callee.Text,
                 IsPowers ? "2 values" : "1 value", C.Arguments.size());
    return false;
  }
  return addSeries(IsPowers ? Series::Powers : Series::Divisors,
                   *C.Arguments.front(),
                   IsPowers ? C.Arguments.back().get() : nullptr, Range);
}

bool AxisValues::add(const ast::Axis::Element &E) {
  if (E.Last)
    return addSeries(Series::Range, *E.First, E.Last.get(), E.Range);
  if (const auto *C = std::get_if<ast::Call>(&E.First->Node)) {
    if (C->Callee.Text == "powers" || C->Callee.Text == "divisors")
      return addCall(*C, E.Range);
    if (C->Callee.Text == "file") { // the key reads it
      AreNumbers = false;
      Numbers.push_back(0);
      const std::string Text = Eval.source(E.Range).str();
      addText(Text, E.Range, Text);
      return true;
    }
  }
  return addValue(*E.First);
}

/// Returns whether a list can be a value: of a param, and of the one key that
/// is a list.
static bool takesList(const ast::Name &Key) {
  return Key.Path.size() == 1 || Key.Path.back().Text == "layout";
}

/// `[1, 2]` for `1, 2`.
void AxisValues::reportList(const ast::Expr &E) {
  const llvm::StringRef Source = Eval.source(E.Range);
  DiagnosticBuilder B =
      Diags.report(E.Range, diag::AxisList, Key.Path.back().Text);
  if (!std::holds_alternative<ast::List>(E.Node))
    return;
  const llvm::StringRef Inside = Source.drop_front().drop_back();
  B.note(E.Range, diag::DidYouMean, Inside).fix(E.Range, Inside);
}

bool AxisValues::addValue(const ast::Expr &E) {
  const std::optional<ExprValue> V = Eval.evaluate(E, Names, Words::Any);
  if (!V)
    return false;
  if (V->getIf<Expr>()) {
    Elements.push_back({Series::One, *V, *V, E.Range});
    AreDependent = true;
    return true;
  }
  if (V->isOfPoint() || V->getIf<PatternValue>()) {
    Diags.report(E.Range, diag::AxisValue, describe(*V));
    return false;
  }
  if (V->getIf<ListValue>() && !takesList(Key)) {
    reportList(E);
    return false;
  }
  const int64_t *N = V->getIf<int64_t>();
  AreNumbers &= N && (Texts.empty() || V->Dim == Dim);
  Dim = V->Dim;
  if (N && Dim == Dimension::Count) {
    Elements.push_back({Series::One, *V, *V, E.Range});
    return addNumbers(*N, E.Range);
  }
  Numbers.push_back(N ? *N : 0);
  const auto *W = V->getIf<WordValue>();
  const std::string Text = W ? W->Text : Eval.source(E.Range).str();
  addText(Text, E.Range, N ? Text : format(*V).value_or(Text));
  return true;
}

/// Returns the condition that \p Self is one of the numbers of a series.
static Expr isOf(Expr Self, Expr First, Expr Last) {
  ir::ExprTable &T = Self.table();
  const Expr IsBelow(T, T.combine(ExprOp::Less, Self, First)),
      IsAbove(T, T.combine(ExprOp::Less, Last, Self));
  return (IsBelow * -1 + 1) * (IsAbove * -1 + 1);
}

std::optional<Expr> AxisValues::membership(Expr Self) const {
  if (!AreDependent)
    return std::nullopt;
  ir::ExprTable &T = Self.table();
  auto ExprOf = [&](const ExprValue &V) {
    const auto *E = V.getIf<Expr>();
    return E ? *E : Expr(T, T.constant(*V.getIf<int64_t>()));
  };
  auto IsEqual = [&](Expr A, Expr B) {
    return Expr(T, T.combine(ExprOp::Equal, A, B));
  };
  Expr Any(T, T.constant(0));
  for (const Element &E : Elements) {
    const GuardedExpr A = guard(ExprOf(E.First)), B = guard(ExprOf(E.Last));
    const Expr First = A.Number, Last = B.Number, Exists = A.Exists * B.Exists;
    switch (E.Of) {
    case Series::One:
      Any = max(Any, Exists * IsEqual(Self, First));
      break;
    case Series::Range:
      Any = max(Any, Exists * isOf(Self, First, Last));
      break;
    case Series::Powers:
      for (const int64_t N : Numbers)
        if (N > 0 && llvm::isPowerOf2_64(static_cast<uint64_t>(N)))
          Any = max(Any, Exists * IsEqual(Self, {T, T.constant(N)}) *
                             isOf(Self, First, Last));
      break;
    case Series::Divisors:
      Any = max(Any, Exists * IsEqual({T, T.combine(ExprOp::Mod, First, Self)},
                                      {T, T.constant(0)}));
      break;
    }
  }
  return Any;
}

/// Sorts numbers and removes duplicates; false if there are too many.
bool AxisValues::makeUnique(std::vector<int64_t> &Found, SourceRange Range) {
  llvm::sort(Found);
  Found.erase(llvm::unique(Found), Found.end());
  if (Found.size() <= MaxValues)
    return true;
  Diags.report(Range, diag::AxisTooLong, MaxValues);
  return false;
}

/// Finds all numbers that the elements have at some point.
bool AxisValues::findDependent() {
  std::vector<ir::ExprId> Wanted;
  for (const Element &E : Elements)
    for (const ExprValue *V : {&E.First, &E.Last})
      if (const auto *Of = V->getIf<Expr>())
        Wanted.push_back(*Of);
  SweepSpec::Combinations Points(Before, Wanted);
  if (Points.size() > MaxCombinations) {
    Diags.report(Elements.front().Range, diag::AxisReadsTooMuch,
                 MaxCombinations);
    return false;
  }
  // Ranges overlap: of one that grows with an axis only the ends count.
  std::map<int64_t, int64_t> Ranges; // the last number by the first
  std::set<std::tuple<Series, int64_t, int64_t>> Seen;
  std::vector<int64_t> Found;
  int64_t Tried = 0;
  for (; !Points.atEnd(); Points.next()) {
    size_t Next = 0;
    auto At = [&](const ExprValue &V) {
      return V.getIf<Expr>() ? Points.value(Next++) : *V.getIf<int64_t>();
    };
    for (const Element &E : Elements) {
      const int64_t First = At(E.First), Last = At(E.Last);
      if (First == ir::NoValue || Last == ir::NoValue || First > Last)
        continue;
      if (E.Of == Series::One || E.Of == Series::Range) {
        int64_t &Until = Ranges.try_emplace(First, Last).first->second;
        Until = std::max(Until, Last);
      } else if (Seen.emplace(E.Of, First, Last).second) {
        if (E.Of == Series::Divisors)
          Tried += static_cast<int64_t>(std::sqrt(static_cast<double>(First)));
        if (Tried > MaxTried) {
          Diags.report(E.Range, diag::AxisReadsTooMuch, Seen.size());
          return false;
        }
        if (!expand(E, First, Last, Found) ||
            (Found.size() > MaxValues && !makeUnique(Found, E.Range)))
          return false;
      }
    }
  }
  if (!makeUnique(Found, Elements.front().Range))
    return false;
  int64_t After = INT64_MIN; // what is covered already ends before it
  for (const auto &[First, Last] : Ranges) {
    const Element &E = Elements.front();
    if (Last < After)
      continue;
    if (!expand({Series::Range, E.First, E.Last, E.Range},
                std::max(First, After), Last, Found))
      return false;
    if (Last == INT64_MAX)
      break;
    After = Last + 1;
  }
  Texts.clear();
  Words.clear();
  Places.clear();
  Numbers.clear();
  return makeUnique(Found, Elements.front().Range) &&
         addNumbers(Found, Elements.front().Range);
}

bool AxisValues::finish() {
  if (AreDependent && (!AreNumbers || Dim != Dimension::Count)) {
    Diags.report(Elements.front().Range, diag::AxisValue,
                 "a word or a unit beside numbers that depend on axes");
    return false;
  }
  if (AreDependent && !findDependent())
    return false;
  llvm::StringMap<size_t> Seen;
  for (const auto &[Index, Text] : llvm::enumerate(Texts))
    if (!Seen.try_emplace(Text, Index).second) {
      Diags.report(Places[Index], diag::DuplicateValue, Text);
      return false;
    }
  return true;
}
