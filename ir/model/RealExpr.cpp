// SPDX-License-Identifier: Apache-2.0
#include "ir/model/RealExpr.h"

using namespace foretrace;
using namespace foretrace::ir;

ExprId ExprTable::real(double Value, std::optional<Key> Name) {
  return unique({ExprOp::RealConstant, bitsOf(Value), Name.value_or(Key{})});
}

/// The number of a constant without a name.
static std::optional<double> constantOf(const ExprTable &T, ExprId I) {
  if (!I.isValid() || T[I].Op != ExprOp::RealConstant || T[I].isNamed())
    return std::nullopt;
  return realOf(T[I].Value);
}

/// Simplifies only what is exact.
ExprId ExprTable::combineReal(ExprOp Op, ExprId Left, ExprId Right) {
  const auto L = constantOf(*this, Left), R = constantOf(*this, Right);
  if ((Op == ExprOp::RealProduct || Op == ExprOp::RealQuotient) && R == 1.0)
    return Left;
  if (Op == ExprOp::RealProduct && L == 1.0)
    return Right;
  if (Op == ExprOp::RealSum && R == 0.0)
    return Left;
  if (Op == ExprOp::RealSum && L == 0.0)
    return Right;
  return unique({Op, 0, {}, Left, Right});
}

ExprId ExprTable::term(KeyId Name, ExprId Of) {
  return unique({ExprOp::RealTerm, static_cast<int64_t>(Name), {Name}, Of});
}

RealExpr::RealExpr(Expr Of)
    : T(&Of.table()), Id(T->combineReal(ExprOp::Real, Of)) {}

double RealExpr::value() const {
  const int64_t Bits = T->value(Id);
  return Bits == NoValue ? std::nan("") : realOf(Bits);
}

RealExpr foretrace::ir::select(Expr Holds, RealExpr Then, RealExpr Else) {
  ExprTable &T = Holds.table();
  const Expr Fails = equal(Holds, Expr(T, T.constant(0)));
  return RealExpr(T, T.combineReal(ExprOp::RealIf, Holds, Then)) +
         RealExpr(T, T.combineReal(ExprOp::RealIf, Fails, Else));
}

ExprId foretrace::ir::caseOf(const ExprTable &T, ExprId Of) {
  auto Is = [&](ExprId I, bool Holds) {
    return T[I].Op == ExprOp::RealIf && (T.value(T[I].Left) != 0) == Holds;
  };
  for (;;) {
    const ExprNode &N = T[Of];
    const bool IsSum = N.Op == ExprOp::RealSum;
    if (Is(Of, true) || (IsSum && Is(N.Left, false)))
      Of = N.Right;
    else if (IsSum && Is(N.Right, false))
      Of = N.Left;
    else
      return Of;
  }
}
