// SPDX-License-Identifier: Apache-2.0
//
// Real numbers as expressions. Laws of durations are templates over them and
// `double`, and give the same bits: nothing is reordered, and each operation
// is rounded as a processor does.
#pragma once

#include "ir/model/Expr.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/ErrorHandling.h"
#include <algorithm>
#include <cmath>

namespace foretrace::ir {

/// Returns the number of such bits.
inline double realOf(int64_t Bits) { return llvm::bit_cast<double>(Bits); }

/// Returns the bits of a number; those of -0 are NoValue.
inline int64_t bitsOf(double Value) {
  return llvm::bit_cast<int64_t>(Value + 0.0);
}

/// Returns the nearest integer, if it is less than 2^62.
inline int64_t rounded(double Value) {
  return Value < 0x1p62 ? std::llrint(Value) : NoValue;
}

/// Applies \p Op, which has a real operand or result, to two numbers. \p R is
/// not read if there is one operand.
inline int64_t applyRealOp(ExprOp Op, int64_t L, int64_t R) {
  switch (Op) {
  case ExprOp::Real:
    return bitsOf(static_cast<double>(L));
  case ExprOp::RealSum:
    return bitsOf(realOf(L) + realOf(R));
  case ExprOp::RealDifference:
    return bitsOf(realOf(L) - realOf(R));
  case ExprOp::RealProduct:
    return bitsOf(realOf(L) * realOf(R));
  case ExprOp::RealQuotient:
    return bitsOf(realOf(L) / realOf(R));
  case ExprOp::RealMin:
    return bitsOf(std::min(realOf(L), realOf(R)));
  case ExprOp::RealMax:
    return bitsOf(std::max(realOf(L), realOf(R)));
  case ExprOp::RealRoot:
    return bitsOf(std::sqrt(realOf(L)));
  case ExprOp::RealLog:
    return bitsOf(std::log2(realOf(L)));
  case ExprOp::RealPower:
    return bitsOf(std::exp2(realOf(L)));
  case ExprOp::RealIf:
    return L ? R : 0;
  case ExprOp::RealTerm:
    return L;
  case ExprOp::RealLess:
    return realOf(L) < realOf(R);
  case ExprOp::RealRound:
    return rounded(realOf(L));
  case ExprOp::RealNanoseconds:
    return rounded(realOf(L) * 1e9);
  default:
    llvm_unreachable("not an operation of real numbers");
  }
}

/// A real number under construction, like Expr.
class RealExpr {
public:
  RealExpr(ExprTable &T, ExprId Id) : T(&T), Id(Id) {}
  /// An integer as a real number.
  explicit RealExpr(Expr Of);

  operator ExprId() const { return Id; }
  ExprTable &table() const { return *T; }
  /// The number; NaN if it has no value.
  double value() const;
  /// Returns the number under a name in explanations.
  friend RealExpr named(KeyId Name, RealExpr Of) {
    return {*Of.T, Of.T->term(Name, Of)};
  }
  /// A number in the same table.
  RealExpr number(double Value) const { return {*T, T->real(Value)}; }

#define REAL_OPERATOR(SYMBOL, OP)                                              \
  friend RealExpr operator SYMBOL(RealExpr L, RealExpr R) {                    \
    return L.with(ExprOp::OP, R);                                              \
  }                                                                            \
  friend RealExpr operator SYMBOL(double L, RealExpr R) {                      \
    return R.number(L) SYMBOL R;                                               \
  }                                                                            \
  friend RealExpr operator SYMBOL(RealExpr L, double R) {                      \
    return L SYMBOL L.number(R);                                               \
  }
  REAL_OPERATOR(+, RealSum)
  REAL_OPERATOR(-, RealDifference)
  REAL_OPERATOR(*, RealProduct)
  REAL_OPERATOR(/, RealQuotient)
#undef REAL_OPERATOR
  friend RealExpr min(RealExpr L, RealExpr R) {
    return L.with(ExprOp::RealMin, R);
  }
  friend RealExpr max(RealExpr L, RealExpr R) {
    return L.with(ExprOp::RealMax, R);
  }
  friend RealExpr sqrt(RealExpr Of) { return Of.with(ExprOp::RealRoot); }
  friend RealExpr log2(RealExpr Of) { return Of.with(ExprOp::RealLog); }
  friend RealExpr exp2(RealExpr Of) { return Of.with(ExprOp::RealPower); }
  /// Returns 1 if the first one is smaller, else 0.
  friend Expr isLess(RealExpr L, RealExpr R) {
    return {*L.T, L.T->combineReal(ExprOp::RealLess, L, R)};
  }
  friend RealExpr select(Expr Holds, RealExpr Then, RealExpr Else);
  /// Returns the nearest integer.
  friend Expr rounded(RealExpr Of) {
    return {*Of.T, Of.T->combineReal(ExprOp::RealRound, Of)};
  }
  /// Returns seconds, at least 0, as nanoseconds.
  friend Expr nanoseconds(RealExpr Seconds) {
    return {*Seconds.T,
            Seconds.T->combineReal(ExprOp::RealNanoseconds, Seconds)};
  }

private:
  RealExpr with(ExprOp Op, ExprId R = {}) const {
    return {*T, T->combineReal(Op, Id, R)};
  }

  ExprTable *T;
  ExprId Id;
};

/// Returns \p Then if \p Holds is not 0, else \p Else.
RealExpr select(Expr Holds, RealExpr Then, RealExpr Else);

/// Returns the expression that gives \p Of its value in \p T: of a choice the
/// case that holds.
ExprId caseOf(const ExprTable &T, ExprId Of);

// The functions above for numbers.
inline double named(KeyId, double Of) { return Of; }
inline bool isLess(double L, double R) { return L < R; }
inline double select(bool Holds, double Then, double Else) {
  return Holds ? Then : Else;
}

} // namespace foretrace::ir
