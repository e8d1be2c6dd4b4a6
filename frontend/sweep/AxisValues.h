// SPDX-License-Identifier: Apache-2.0
//
// Values of the elements of an axis: words and numbers, ranges, powers of
// two and divisors, also of what axes before it are.
// Private to the frontend.
#pragma once

#include "frontend/Evaluate.h"
#include "frontend/sweep/SweepSpec.h"

namespace foretrace {

class AxisValues {
public:
  /// \p Key is a key or param, \p Before has the axes before it, and elements
  /// can use \p Names.
  AxisValues(const ast::Name &Key, const SweepSpec &Before, Evaluator &Eval,
             const Scope &Names, DiagnosticEngine &Diags)
      : Key(Key), Before(Before), Eval(Eval), Names(Names), Diags(Diags) {}

  /// Adds the values of \p E; false if something was reported.
  bool add(const ast::Axis::Element &E);
  /// Adds one literal value; false if it is not a value.
  bool addValue(const ast::Expr &E);
  /// Must be called after the last element. Reports duplicate values and, if
  /// axes before it decide, finds all possible values.
  bool finish();

  /// Returns the values by position, in the syntax of -D.
  std::vector<std::string> take() { return std::move(Texts); }
  /// Returns the values as in conditions: strings without their quotes.
  std::vector<std::string> takeWords() { return std::move(Words); }
  llvm::ArrayRef<std::string> texts() const { return Texts; }
  bool dependsOnAxes() const { return AreDependent; }
  /// Returns the numbers, if all values are numbers of one dimension.
  const std::vector<int64_t> *numbers() const {
    return AreNumbers && !Texts.empty() ? &Numbers : nullptr;
  }
  Dimension dimension() const { return Dim; }
  /// 1 if the axis, which is \p Self, may have that value where axes before it
  /// have theirs; nothing if it always may.
  std::optional<ir::Expr> membership(ir::Expr Self) const;

private:
  enum class Series : unsigned char { One, Range, Powers, Divisors };
  /// Numbers that two, or one, decide.
  struct Element {
    Series Of;
    ExprValue First, Last; ///< an integer, or an expression
    SourceRange Range;
    bool dependsOnAxes() const { return First.isOfPoint() || Last.isOfPoint(); }
  };

  bool addSeries(Series Of, const ast::Expr &First, const ast::Expr *Last,
                 SourceRange Range);
  bool addCall(const ast::Call &C, SourceRange Range);
  std::optional<ExprValue> number(const ast::Expr &E);
  bool expand(const Element &E, int64_t First, int64_t Last,
              std::vector<int64_t> &To);
  bool addNumbers(llvm::ArrayRef<int64_t> Found, SourceRange Range);
  bool makeUnique(std::vector<int64_t> &Found, SourceRange Range);
  void reportList(const ast::Expr &E);
  void addText(std::string Text, SourceRange Range, std::string Word);
  bool findDependent();

  const ast::Name &Key;
  const SweepSpec &Before;
  Evaluator &Eval;
  const Scope &Names;
  DiagnosticEngine &Diags;
  std::vector<std::string> Texts, Words; ///< parallel
  std::vector<SourceRange> Places;       ///< parallel to Texts
  std::vector<int64_t> Numbers;          ///< parallel, if all are
  std::vector<Element> Elements;         ///< of numbers
  bool AreNumbers = true, AreDependent = false;
  Dimension Dim = Dimension::Count;
};

} // namespace foretrace
