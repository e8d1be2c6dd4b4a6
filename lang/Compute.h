// SPDX-License-Identifier: Apache-2.0
//
// Arithmetic of the operators on plain numbers. Each evaluator decides which
// values an operator takes, and reports an operation without a result.
#pragma once

#include "lang/Operators.h"
#include "llvm/Support/CheckedArithmetic.h"
#include <cmath>
#include <cstdint>
#include <optional>

namespace foretrace {

/// Returns whether \p A and \p B are as the comparison \p Op says.
template <typename T> bool compare(BinaryOp Op, const T &A, const T &B) {
  return Op == BinaryOp::Eq   ? A == B
         : Op == BinaryOp::Ne ? !(A == B)
         : Op == BinaryOp::Lt ? A < B
         : Op == BinaryOp::Le ? A <= B
         : Op == BinaryOp::Gt ? A > B
                              : A >= B;
}

/// Returns \p A op \p B as in Python, where quotients are rounded down and a
/// rest has the sign of the divisor; nothing by 0 and beyond 2^63.
inline std::optional<int64_t> compute(BinaryOp Op, int64_t A, int64_t B) {
  const bool Divides =
      Op == BinaryOp::Div || Op == BinaryOp::FloorDiv || Op == BinaryOp::Mod;
  if (Divides && (B == 0 || (A == INT64_MIN && B == -1)))
    return Op == BinaryOp::Mod && B != 0 ? std::optional<int64_t>(0)
                                         : std::nullopt;
  switch (Op) {
  case BinaryOp::Add:
    return llvm::checkedAdd(A, B);
  case BinaryOp::Sub:
    return llvm::checkedSub(A, B);
  case BinaryOp::Mul:
    return llvm::checkedMul(A, B);
  case BinaryOp::Div:
  case BinaryOp::FloorDiv:
    return A / B - (A % B != 0 && (A < 0) != (B < 0));
  case BinaryOp::Mod:
    return A % B != 0 && (A < 0) != (B < 0) ? A % B + B : A % B;
  case BinaryOp::And:
    return A != 0 && B != 0;
  case BinaryOp::Or:
    return A != 0 || B != 0;
  default:
    return compare(Op, A, B);
  }
}

/// Returns the result of an arithmetic operation on reals.
inline double compute(BinaryOp Op, double A, double B) {
  switch (Op) {
  case BinaryOp::Add:
    return A + B;
  case BinaryOp::Sub:
    return A - B;
  case BinaryOp::Mul:
    return A * B;
  case BinaryOp::Div:
    return A / B;
  case BinaryOp::FloorDiv:
    return std::floor(A / B);
  default:
    const double Rest = std::fmod(A, B);
    return Rest != 0 && (Rest < 0) != (B < 0) ? Rest + B : Rest;
  }
}

} // namespace foretrace
