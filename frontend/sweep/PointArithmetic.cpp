// SPDX-License-Identifier: Apache-2.0
//
// Operators on what differs from point to point of a sweep. They compute
// nothing: they write the expression that the sweep evaluates.
#include "frontend/Arithmetic.h"
#include "lang/diagnostics/Frontend.h"
#include "lang/diagnostics/Lang.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <cmath>
#include <map>

using namespace foretrace;
using ast::BinaryOp;
using ir::Expr;
using ir::ExprOp;

static Expr combine(ExprOp Op, Expr A, Expr B) {
  ir::ExprTable &T = A.table();
  return {T, T.combine(Op, A, B)};
}

static Expr negate(Expr Condition) { return Condition * -1 + 1; }

/// Guards \p E; \p Known has its guarded parts.
static GuardedExpr guard(Expr E, std::map<unsigned, GuardedExpr> &Known) {
  ir::ExprTable &T = E.table();
  const ir::ExprId Id = E;
  if (auto It = Known.find(Id.Index); It != Known.end())
    return It->second;
  const ir::ExprNode N = T[Id]; // the table grows
  auto Number = [&](int64_t Value) { return Expr(T, T.constant(Value)); };
  GuardedExpr Out = {E, Number(1)};
  if (N.Op != ExprOp::Constant && N.Op != ExprOp::Key) {
    const GuardedExpr L = guard({T, N.Left}, Known),
                      R = guard({T, N.Right}, Known);
    Out.Exists = L.Exists * R.Exists;
    const bool Divides = N.Op == ExprOp::Div || N.Op == ExprOp::Floor ||
                         N.Op == ExprOp::Ceil || N.Op == ExprOp::Mod;
    if (N.Op == ExprOp::Lcm) {
      Out.Exists *= less(Number(0), L.Number) * less(Number(0), R.Number);
      Out.Number = lcm(max(L.Number, Number(1)), max(R.Number, Number(1)));
    } else if (!Divides) {
      Out.Number = combine(N.Op, L.Number, R.Number);
    } else {
      const Expr By = max(R.Number, Number(1));
      Out.Exists *= combine(ExprOp::Less, Number(0), R.Number);
      if (N.Op == ExprOp::Div)
        Out.Exists *= combine(ExprOp::Equal, combine(ExprOp::Mod, L.Number, By),
                              Number(0));
      Out.Number =
          combine(N.Op == ExprOp::Div ? ExprOp::Floor : N.Op, L.Number, By);
    }
  }
  Known.try_emplace(Id.Index, Out);
  return Out;
}

GuardedExpr foretrace::guard(Expr E) {
  std::map<unsigned, GuardedExpr> Known;
  return ::guard(E, Known);
}

/// The table that \p V is of; null if it is the same at all points.
static ir::ExprTable *tableOf(const ExprValue &V) {
  if (const auto *E = V.getIf<Expr>())
    return &E->table();
  if (const auto *C = V.getIf<ConditionValue>())
    return &C->Holds.table();
  return nullptr;
}

/// An integer, of a point or of all.
static std::optional<Expr> numberIn(ir::ExprTable &T, const ExprValue &V) {
  if (const auto *E = V.getIf<Expr>())
    return *E;
  if (const int64_t *I = V.getIf<int64_t>())
    return Expr(T, T.constant(*I));
  return std::nullopt;
}

static std::optional<Expr> conditionIn(ir::ExprTable &T, const ExprValue &V) {
  if (const auto *C = V.getIf<ConditionValue>())
    return C->Holds;
  if (const bool *B = V.getIf<bool>())
    return Expr(T, T.constant(*B));
  return std::nullopt;
}

/// A decimal that integers are compared with, as an integer that parts them in
/// the same way; any other value as it is.
static ExprValue roundedBound(const ExprValue &V, bool RoundsUp) {
  const double *D = V.getIf<double>();
  constexpr double Beyond = 9223372036854775808.0;
  if (!D || !(std::abs(*D) < Beyond - 1024))
    return V;
  return {static_cast<int64_t>(RoundsUp ? std::ceil(*D) : std::floor(*D)),
          V.Dim, V.Range};
}

namespace {

/// One binary operation on its way to an expression.
struct PointOperation {
  BinaryOp Op;
  SourceRange OpRange;
  const ExprValue &A, &B;
  SourceRange Range;
  DiagnosticEngine &Diags;

  using Result = std::optional<ExprValue>;

  Result run() const;

private:
  Result logic() const;
  Result words(const WordAxisValue &Axis, const ExprValue &With) const;
  Result compare() const;
  Result order(const ExprValue &Less, const ExprValue &More,
               bool IsNegated) const;
  Result arithmetic() const;
  Result say(Expr Holds) const {
    return ExprValue{ConditionValue{Holds}, Dimension::Count, Range};
  }
  Result mismatch() const {
    reportMismatch({getSpelling(Op).str(), OpRange}, A, B, Diags);
    return std::nullopt;
  }
};

} // namespace

PointOperation::Result PointOperation::logic() const {
  ir::ExprTable *T = tableOf(A) ? tableOf(A) : tableOf(B);
  const auto L = T ? conditionIn(*T, A) : std::nullopt,
             R = T ? conditionIn(*T, B) : std::nullopt;
  if (!L || !R)
    return mismatch();
  return say(Op == BinaryOp::And ? *L * *R : max(*L, *R));
}

PointOperation::Result PointOperation::words(const WordAxisValue &Axis,
                                             const ExprValue &With) const {
  const std::optional<std::string> Word = format(With);
  if ((Op != BinaryOp::Eq && Op != BinaryOp::Ne) || !Word || With.isNumber())
    return mismatch();
  const auto *At = llvm::find(Axis.Words, *Word);
  if (At == Axis.Words.end()) {
    Diags.report(With.Range, diag::OutsideDomain, Axis.Key, *Word,
                 llvm::join(Axis.Words, ", "));
    return std::nullopt;
  }
  ir::ExprTable &T = Axis.Position.table();
  const Expr Is = combine(ExprOp::Equal, Axis.Position,
                          {T, T.constant(At - Axis.Words.begin())});
  return say(Op == BinaryOp::Eq ? Is : negate(Is));
}

/// Returns whether \p Less is below \p More, or is not if \p IsNegated. A
/// number that does not exist is neither.
PointOperation::Result PointOperation::order(const ExprValue &Less,
                                             const ExprValue &More,
                                             bool IsNegated) const {
  ir::ExprTable &T = tableOf(A) ? *tableOf(A) : *tableOf(B);
  // Below 2.5 is below 3; above 2.5 is above 2.
  const std::optional<Expr> L = numberIn(T, roundedBound(Less, false)),
                            M = numberIn(T, roundedBound(More, true));
  if (!L || !M)
    return mismatch();
  const GuardedExpr A = guard(*L), B = guard(*M);
  const Expr Holds = combine(ExprOp::Less, A.Number, B.Number);
  return say((IsNegated ? negate(Holds) : Holds) * A.Exists * B.Exists);
}

PointOperation::Result PointOperation::compare() const {
  if (const auto *Axis = A.getIf<WordAxisValue>())
    return words(*Axis, B);
  if (const auto *Axis = B.getIf<WordAxisValue>())
    return words(*Axis, A);
  if (A.Dim != B.Dim)
    return mismatch();
  switch (Op) {
  case BinaryOp::Lt:
    return order(A, B, false);
  case BinaryOp::Gt:
    return order(B, A, false);
  case BinaryOp::Le:
    return order(B, A, true);
  case BinaryOp::Ge:
    return order(A, B, true);
  default:
    break;
  }
  ir::ExprTable &T = tableOf(A) ? *tableOf(A) : *tableOf(B);
  const std::optional<Expr> L = numberIn(T, A), R = numberIn(T, B);
  if (!L || !R)
    return mismatch();
  const GuardedExpr X = guard(*L), Y = guard(*R);
  const Expr Is = combine(ExprOp::Equal, X.Number, Y.Number);
  return say((Op == BinaryOp::Eq ? Is : negate(Is)) * X.Exists * Y.Exists);
}

PointOperation::Result PointOperation::arithmetic() const {
  ir::ExprTable *T = tableOf(A) ? tableOf(A) : tableOf(B);
  const std::optional<Dimension> Dim = dimensionOf(Op, A.Dim, B.Dim);
  const auto L = T && Dim ? numberIn(*T, A) : std::nullopt,
             R = T && Dim ? numberIn(*T, B) : std::nullopt;
  if (!L || !R)
    return mismatch();
  auto Say = [&](Expr Out) { return ExprValue{Out, *Dim, Range}; };
  switch (Op) {
  case BinaryOp::Add:
    return Say(*L + *R);
  case BinaryOp::Sub:
    return Say(*L + *R * -1);
  case BinaryOp::Mul:
    return Say(*L * *R);
  case BinaryOp::Div:
    return Say(*L / *R);
  case BinaryOp::FloorDiv:
    return Say(floorDiv(*L, *R));
  default:
    return Say(combine(ExprOp::Mod, *L, *R));
  }
}

PointOperation::Result PointOperation::run() const {
  if (Op == BinaryOp::And || Op == BinaryOp::Or)
    return logic();
  return Op >= BinaryOp::Eq ? compare() : arithmetic();
}

std::optional<ExprValue>
foretrace::applyToPoints(BinaryOp Op, SourceRange OpRange, const ExprValue &A,
                         const ExprValue &B, SourceRange Range,
                         DiagnosticEngine &Diags) {
  return PointOperation{Op, OpRange, A, B, Range, Diags}.run();
}

std::optional<ExprValue> foretrace::applyToPoints(ast::UnaryOp Op,
                                                  const ExprValue &A,
                                                  SourceRange Range,
                                                  DiagnosticEngine &Diags) {
  const bool IsNot = Op == ast::UnaryOp::Not;
  if (const auto *C = A.getIf<ConditionValue>(); C && IsNot)
    return ExprValue{ConditionValue{negate(C->Holds)}, Dimension::Count, Range};
  if (const auto *E = A.getIf<Expr>(); E && !IsNot)
    return ExprValue{*E * -1, A.Dim, Range};
  Diags.report(A.Range, diag::TypeMismatch, IsNot ? "not" : "-",
               IsNot ? "`true` or `false`" : "a number", describe(A));
  return std::nullopt;
}

std::optional<ExprValue> foretrace::chooseOfPoints(const ast::Word &Callee,
                                                   const ExprValue &A,
                                                   const ExprValue &B,
                                                   SourceRange Range,
                                                   DiagnosticEngine &Diags) {
  ir::ExprTable *T = tableOf(A) ? tableOf(A) : tableOf(B);
  const auto L = T ? numberIn(*T, A) : std::nullopt,
             R = T ? numberIn(*T, B) : std::nullopt;
  if (!L || !R || A.Dim != B.Dim) {
    reportMismatch(Callee, A, B, Diags);
    return std::nullopt;
  }
  const ExprOp Op = Callee.Text == "min" ? ExprOp::Min : ExprOp::Max;
  return ExprValue{combine(Op, *L, *R), A.Dim, Range};
}
