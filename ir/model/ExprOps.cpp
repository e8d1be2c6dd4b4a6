// SPDX-License-Identifier: Apache-2.0
//
// The operations of expressions on numbers.
#include "ir/model/RealExpr.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

using namespace foretrace;
using namespace foretrace::ir;

llvm::StringRef foretrace::ir::getSpelling(ExprOp Op) {
  static constexpr llvm::StringLiteral Spellings[] = {
      "", "", "", "", "",
#define EXPR_OP(ENUMERATOR, SPELLING, DOC) SPELLING,
#include "ir/model/Exprs.def"
  };
  return Spellings[static_cast<size_t>(Op)];
}

int64_t foretrace::ir::applyExprOp(ExprOp Op, int64_t L, int64_t R) {
  if (L == NoValue || R == NoValue)
    return NoValue;
  int64_t Out = 0;
  switch (Op) {
  case ExprOp::Add:
    return llvm::AddOverflow(L, R, Out) ? NoValue : Out;
  case ExprOp::Mul:
    return llvm::MulOverflow(L, R, Out) ? NoValue : Out;
  case ExprOp::Div:
    return R <= 0 || L % R != 0 ? NoValue : L / R;
  case ExprOp::Floor:
    return R <= 0 ? NoValue : L / R - (L % R < 0);
  case ExprOp::Ceil:
    return R <= 0 ? NoValue : L / R + (L % R > 0);
  case ExprOp::Mod:
    return R <= 0 ? NoValue : L % R + (L % R < 0 ? R : 0);
  case ExprOp::Less:
    return L < R;
  case ExprOp::Equal:
    return L == R;
  case ExprOp::Min:
    return std::min(L, R);
  case ExprOp::Max:
    return std::max(L, R);
  case ExprOp::Lcm:
    return L <= 0 || R <= 0 || llvm::MulOverflow(L / std::gcd(L, R), R, Out)
               ? NoValue
               : Out;
  default:
    return applyRealOp(Op, L, R);
  }
}

int64_t foretrace::ir::applyCall(const ExprFunction &F,
                                 llvm::ArrayRef<int64_t> Operands) {
  return llvm::is_contained(Operands, NoValue) ? NoValue : F.Apply(Operands);
}
