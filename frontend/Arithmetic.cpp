// SPDX-License-Identifier: Apache-2.0
//
// Operators on values. Integers are exact: what overflows or leaves a rest is
// an error, never rounded.
#include "frontend/Arithmetic.h"
#include "frontend/Pattern.h"
#include "ir/model/Routing.h"
#include "lang/Compute.h"
#include "lang/DidYouMean.h"
#include "lang/diagnostics/Frontend.h"
#include "lang/diagnostics/Lang.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CheckedArithmetic.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>

using namespace foretrace;
using ast::BinaryOp;

namespace {

/// One binary operation on its way to a result.
struct Operation {
  BinaryOp Op;
  SourceRange OpRange, Range;
  const ExprValue &A, &B;
  DiagnosticEngine &Diags;

  using Result = std::optional<ExprValue>;

  Result run();

private:
  Result integers(int64_t X, int64_t Y, Dimension Dim);
  Result reals(double X, double Y, Dimension Dim);
  Result logic();
  Result comparison();
  Result joined();
  Result repeated(int64_t Times, const ExprValue &List);
  Result tooLong() {
    Diags.report(Range, diag::ListTooLong, ListValue::MaxElements);
    return std::nullopt;
  }
  Result mismatch() {
    reportMismatch({getSpelling(Op).str(), OpRange}, A, B, Diags);
    return std::nullopt;
  }
  Result byZero() {
    Diags.report(Range, diag::DivisionByZero, *format(A), getSpelling(Op));
    return std::nullopt;
  }
};

} // namespace

void foretrace::reportMismatch(const ast::Word &Op, const ExprValue &A,
                               const ExprValue &B, DiagnosticEngine &Diags) {
  DiagnosticBuilder Report = Diags.report(Op.Range, diag::OperandMismatch,
                                          Op.Text, describe(A), describe(B));
  noteMetric(A, Report);
  noteMetric(B, Report);
  static constexpr llvm::StringLiteral Scaling[] = {"*", "/", "floor_div",
                                                    "ceil_div", "%"};
  if (llvm::is_contained(Scaling, Op.Text)) {
    if (B.Dim != Dimension::Count && !baseQuantity(B.Dim).empty())
      Report.note(B.Range, diag::CountOfQuantity, getName(B.Dim),
                  baseQuantity(B.Dim));
    return;
  }
  for (const auto &[Plain, Other] : {std::pair(&A, &B), std::pair(&B, &A)})
    if (const std::string Text = withUnit(*Plain, Other->Dim); !Text.empty())
      Report.note(Plain->Range, diag::NumberNeedsUnit, getName(Other->Dim),
                  Text);
}

std::optional<Dimension> foretrace::dimensionOf(BinaryOp Op, Dimension A,
                                                Dimension B) {
  if (Op == BinaryOp::Mul && (A == Dimension::Count || B == Dimension::Count))
    return A == Dimension::Count ? B : A;
  if (Op == BinaryOp::Div || Op == BinaryOp::FloorDiv) {
    if (A == B)
      return Dimension::Count;
    if (B == Dimension::Count)
      return A;
    return std::nullopt;
  }
  if (A == B && Op != BinaryOp::Mul)
    return A;
  return std::nullopt;
}

Operation::Result Operation::integers(int64_t X, int64_t Y, Dimension Dim) {
  const bool Divides =
      Op == BinaryOp::Div || Op == BinaryOp::FloorDiv || Op == BinaryOp::Mod;
  if (Divides && Y == 0)
    return byZero();
  if (Op == BinaryOp::Div && Y != -1 && X % Y != 0) {
    Diags.report(Range, diag::InexactDivision, X, Y, X % Y);
    return std::nullopt;
  }
  if (const std::optional<int64_t> Out = compute(Op, X, Y))
    return ExprValue{*Out, Dim, Range};
  Diags.report(Range, diag::IntegerOverflow,
               llvm::formatv("{0} {1} {2}", X, getSpelling(Op), Y).str());
  return std::nullopt;
}

Operation::Result Operation::reals(double X, double Y, Dimension Dim) {
  if (Op == BinaryOp::FloorDiv || Op == BinaryOp::Mod) // for integers
    return mismatch();
  if (Op == BinaryOp::Div && Y == 0)
    return byZero();
  const double Out = compute(Op, X, Y);
  if (std::isfinite(Out))
    return ExprValue{Out, Dim, Range};
  Diags.report(Range, diag::IntegerOverflow,
               *format(A) + " " + getSpelling(Op).str() + " " + *format(B));
  return std::nullopt;
}

Operation::Result Operation::logic() {
  const bool *X = A.getIf<bool>(), *Y = B.getIf<bool>();
  if (!X || !Y)
    return mismatch();
  return ExprValue{Op == BinaryOp::And ? *X && *Y : *X || *Y, Dimension::Count,
                   Range};
}

/// Compares numbers; other values have no order.
Operation::Result Operation::comparison() {
  const bool IsEquality = Op == BinaryOp::Eq || Op == BinaryOp::Ne;
  auto Say = [&](const auto &X, const auto &Y) {
    return ExprValue{compare(Op, X, Y), Dimension::Count, Range};
  };
  const int64_t *X = A.getIf<int64_t>(), *Y = B.getIf<int64_t>();
  if (A.isNumber() && B.isNumber() && A.Dim == B.Dim)
    return X && Y ? Say(*X, *Y) : Say(A.asReal(), B.asReal());
  if (IsEquality && A.asText() && B.asText())
    return Say(*A.asText(), *B.asText());
  if (IsEquality && A.getIf<bool>() && B.getIf<bool>())
    return Say(*A.getIf<bool>(), *B.getIf<bool>());
  return mismatch();
}

/// Concatenates two lists.
Operation::Result Operation::joined() {
  if (weigh(A) + weigh(B) > ListValue::MaxElements)
    return tooLong();
  ListValue Out = *A.getIf<ListValue>();
  llvm::append_range(Out.Elements, B.getIf<ListValue>()->Elements);
  return ExprValue{std::move(Out), Dimension::Count, Range};
}

Operation::Result Operation::repeated(int64_t Times, const ExprValue &List) {
  if (Times < 0) {
    Diags.report(Range, diag::IsNegative, "a number of times", Times);
    return std::nullopt;
  }
  ListValue Out;
  if (const size_t Weight = weigh(List); Weight > 0) {
    if (static_cast<size_t>(Times) > ListValue::MaxElements / Weight)
      return tooLong();
    for (int64_t I = 0; I < Times; ++I)
      llvm::append_range(Out.Elements, List.getIf<ListValue>()->Elements);
  }
  return ExprValue{std::move(Out), Dimension::Count, Range};
}

Operation::Result Operation::run() {
  if (Op == BinaryOp::And || Op == BinaryOp::Or)
    return logic();
  if (Op >= BinaryOp::Eq)
    return comparison();
  const int64_t *X = A.getIf<int64_t>(), *Y = B.getIf<int64_t>();
  const auto *P = A.getIf<PatternValue>(), *Q = B.getIf<PatternValue>();
  if (Op == BinaryOp::Add && P && Q)
    return ExprValue{concatenate(*P, *Q), Dimension::Count, Range};
  bool IsRepeat = Op == BinaryOp::Mul && ((X && Q) || (P && Y));
  if (IsRepeat && (X ? A : B).Dim == Dimension::Count) {
    std::optional<PatternValue> Out =
        repeat(X ? *X : *Y, X ? *Q : *P, Range, Diags);
    if (!Out)
      return std::nullopt;
    return ExprValue{std::move(*Out), Dimension::Count, Range};
  }
  const auto *L = A.getIf<ListValue>(), *M = B.getIf<ListValue>();
  if (Op == BinaryOp::Add && L && M)
    return joined();
  if (Op == BinaryOp::Mul && ((X && M) || (L && Y)) &&
      (X ? A : B).Dim == Dimension::Count)
    return repeated(X ? *X : *Y, X ? B : A);
  if (!A.isNumber() || !B.isNumber())
    return mismatch();
  const std::optional<Dimension> Dim = dimensionOf(Op, A.Dim, B.Dim);
  if (!Dim)
    return mismatch();
  if (X && Y)
    return integers(*X, *Y, *Dim);
  return reals(A.asReal(), B.asReal(), *Dim);
}

std::optional<ExprValue>
foretrace::applyBinary(BinaryOp Op, SourceRange OpRange, const ExprValue &A,
                       const ExprValue &B, SourceRange Range,
                       DiagnosticEngine &Diags) {
  const bool AreAlike = Op == BinaryOp::Add || Op == BinaryOp::Sub ||
                        (Op >= BinaryOp::Eq && Op <= BinaryOp::Ge);
  if (AreAlike && needsShare(A, B))
    return applyBinary(Op, OpRange, asShare(A), asShare(B), Range, Diags);
  if (A.isOfPoint() || B.isOfPoint())
    return applyToPoints(Op, OpRange, A, B, Range, Diags);
  return Operation{Op, OpRange, Range, A, B, Diags}.run();
}

std::optional<ExprValue> foretrace::applyUnary(ast::UnaryOp Op,
                                               const ExprValue &A,
                                               SourceRange Range,
                                               DiagnosticEngine &Diags) {
  if (A.isOfPoint())
    return applyToPoints(Op, A, Range, Diags);
  if (Op == ast::UnaryOp::Not) {
    if (const bool *B = A.getIf<bool>())
      return ExprValue{!*B, Dimension::Count, Range};
    Diags.report(A.Range, diag::TypeMismatch, "not", "`true` or `false`",
                 describe(A));
    return std::nullopt;
  }
  if (const double *D = A.getIf<double>())
    return ExprValue{-*D, A.Dim, Range};
  const int64_t *I = A.getIf<int64_t>();
  if (!I) {
    Diags.report(A.Range, diag::TypeMismatch, "-", "a number", describe(A));
    return std::nullopt;
  }
  if (std::optional<int64_t> Out = llvm::checkedSub(int64_t(0), *I))
    return ExprValue{*Out, A.Dim, Range};
  Diags.report(Range, diag::IntegerOverflow, "-(" + llvm::itostr(*I) + ")");
  return std::nullopt;
}

/// Makes `zipf(s, seed)`, a value of `routing`.
static std::optional<ExprValue> makeZipf(const ExprValue &Exponent,
                                         const ExprValue &Seed,
                                         SourceRange Range,
                                         DiagnosticEngine &Diags) {
  constexpr int Most = ir::Routing::MaxExponent;
  if (!Exponent.isNumber() || Exponent.asReal() < 0 ||
      Exponent.asReal() > Most) {
    Diags.report(
        Exponent.Range, diag::WrongType, "s",
        format(Exponent).value_or(describe(Exponent)),
        llvm::formatv("a number from 0 to {0}, such as 1.2", Most).str());
    return std::nullopt;
  }
  const int64_t *Number = Seed.getIf<int64_t>();
  if (!Number || *Number < 0) {
    Diags.report(Seed.Range, diag::WrongType, "seed",
                 format(Seed).value_or(describe(Seed)), "0, 1, 2, ...");
    return std::nullopt;
  }
  ir::Routing R;
  R.Is = ir::Routing::Kind::Zipf;
  R.Exponent = Exponent.asReal();
  R.Seed = static_cast<uint64_t>(*Number);
  return ExprValue{R.text(), Dimension::Count, Range};
}

llvm::ArrayRef<FunctionInfo> foretrace::allFunctions() {
  static constexpr FunctionInfo All[] = {
      {"min", "a, b", "The smaller of two values."},
      {"max", "a, b", "The larger of two values."},
      {"floor_div", "a, b", "The quotient of integers, rounded down."},
      {"ceil_div", "a, b", "The quotient of integers, rounded up."},
      {"zipf", "exponent, seed",
       "Uneven loads of experts by Zipf's law, shuffled by the seed."},
  };
  return All;
}

std::optional<ExprValue>
foretrace::applyCall(const ast::Word &Callee,
                     llvm::ArrayRef<ExprValue> Arguments, SourceRange Range,
                     DiagnosticEngine &Diags) {
  if (llvm::none_of(allFunctions(), [&](const FunctionInfo &F) {
        return F.Name == Callee.Text;
      })) {
    std::vector<llvm::StringRef> Functions;
    for (const FunctionInfo &F : allFunctions())
      Functions.push_back(F.Name);
    suggest(Diags.report(Callee.Range, diag::UnknownFunction, Callee.Text),
            Callee.Range, Callee.Text, Functions);
    return std::nullopt;
  }
  if (Arguments.size() != 2) {
    Diags.report(Range, diag::ArgumentCount, Callee.Text, "2 values",
                 Arguments.size());
    return std::nullopt;
  }
  const ExprValue &A = Arguments[0], &B = Arguments[1];
  if (needsShare(A, B) && (Callee.Text == "min" || Callee.Text == "max"))
    return applyCall(Callee, {asShare(A), asShare(B)}, Range, Diags);
  if (Callee.Text == "zipf")
    return makeZipf(A, B, Range, Diags);
  if (Callee.Text == "floor_div")
    return applyBinary(BinaryOp::FloorDiv, Callee.Range, A, B, Range, Diags);
  if (Callee.Text == "ceil_div") {
    // ceil(a / b) = -floor(-a / b)
    std::optional<ExprValue> Out =
        applyUnary(ast::UnaryOp::Negate, A, Range, Diags);
    if (Out)
      Out =
          applyBinary(BinaryOp::FloorDiv, Callee.Range, *Out, B, Range, Diags);
    return Out ? applyUnary(ast::UnaryOp::Negate, *Out, Range, Diags)
               : std::nullopt;
  }
  if (A.isOfPoint() || B.isOfPoint())
    return chooseOfPoints(Callee, A, B, Range, Diags);
  BinaryOp Better = Callee.Text == "min" ? BinaryOp::Le : BinaryOp::Ge;
  std::optional<ExprValue> TakeFirst =
      applyBinary(Better, Callee.Range, A, B, Range, Diags);
  if (!TakeFirst)
    return std::nullopt;
  ExprValue Out = *TakeFirst->getIf<bool>() ? A : B;
  Out.Range = Range;
  return Out;
}
